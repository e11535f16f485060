"""Which ways the members of a cluster need to each other, what the model says of each, and what an answer is worth."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import assert_never

from netdiag.deployment.cluster import advertised_host, cluster_of
from netdiag.deployment.delivery import Delivery, Landed, deliver
from netdiag.deployment.mechanism import Mechanism
from netdiag.deployment.member import Broker, Deployment
from netdiag.deployment.mesh import Edge, EdgeKind, Mesh
from netdiag.deployment.naming import MemberAddress, Unmodelled, Unresolved, resolve, running
from netdiag.deployment.observations import Address, Answered, Contact, Failed, Reason, Unknown
from netdiag.deployment.vantage import inside
from netdiag.deployment.verdict import Word
from netdiag.kafka.broker_config import Mode
from netdiag.kafka.listeners import parse_listeners, well_formed
from netdiag.kafka.zookeeper import parse_connect

_NOWHERE: frozenset[str] = frozenset()
# The listener is reached; that it wants a secured client is no matter of the network.
_SECURED = (Reason.TLS, Reason.SASL)
_ORDER = tuple(EdgeKind)


def mesh_edges(deployment: Deployment, down: frozenset[str] = _NOWHERE) -> tuple[Edge, ...]:
    """Every edge that should be there, with its prediction, by kind, source and target.

    `down` are the members that do not run: nothing starts there, but all that leads there counts.
    """
    sources = [broker for broker in deployment.serving if running(broker.member, down)]
    edges = [edge for source in sources for edge in _of(deployment, source, down)]
    distinct = {(e.kind, e.source, e.target, e.address): e for e in edges}.values()
    return tuple(sorted(distinct, key=_place))


def in_order(mesh: Mesh) -> Mesh:
    """The same mesh, its edges by kind, source and target."""
    return replace(mesh, edges=tuple(sorted(mesh.edges, key=_place)))


def worth(edge: Edge, contact: Contact) -> str:
    """What a contact is worth for an edge, in one word: "ok", "wrong-broker", a reason, "unknown"."""
    match contact:
        case Unknown():
            return Word.UNKNOWN.value
        case Failed():
            return Word.OK.value if contact.reason in _SECURED else contact.reason.value
        case Answered():
            right = edge.node_id is None or contact.node_id in (None, edge.node_id)
            return Word.OK.value if right else Word.WRONG_BROKER.value


def is_cut(edge: Edge) -> bool | None:
    """Whether the source does not get to its target; None while nobody has looked, or could not tell."""
    if edge.observed is None or isinstance(edge.observed, Unknown):
        return None
    return worth(edge, edge.observed) != Word.OK.value


def as_a_member(contact: Contact, kind: EdgeKind) -> Contact:
    """What a client's contact means between members: that a controller's listener serves no clients is as it should."""
    controller = isinstance(contact, Failed) and contact.mechanism is Mechanism.CONTROLLER_LISTENER
    if kind is EdgeKind.CONTROLLER and isinstance(contact, Failed) and controller:
        return Answered(node_id=None, cluster_id=None, ip=contact.ip, because=contact.because)
    return contact


def _place(edge: Edge) -> tuple[object, ...]:
    return (_ORDER.index(edge.kind), edge.source, edge.target, edge.address)


def _of(deployment: Deployment, source: Broker, down: frozenset[str]) -> Iterator[Edge]:
    if source.config.is_broker:
        yield from _to_brokers(deployment, source, down)
    match source.config.mode:
        case Mode.KRAFT:
            yield from _to_controllers(deployment, source, down)
        case Mode.ZOOKEEPER:
            yield from _to_zookeeper(deployment, source, down)
        case _:
            return


def _to_brokers(deployment: Deployment, source: Broker, down: frozenset[str]) -> Iterator[Edge]:
    for other in cluster_of(deployment, source):
        if other is source or not other.config.is_broker:
            continue
        for entry in other.config.advertised_listeners:
            host = advertised_host(other, entry)
            if entry.endpoint.listener != other.config.inter_broker_listener or not host:
                continue
            address = Address(host=host, port=entry.endpoint.port)
            yield Edge(
                kind=EdgeKind.INTER_BROKER,
                source=source.name,
                target=other.name,
                address=address,
                predicted=_predicted(deployment, source, address, down),
                node_id=other.config.node_id,
            )


def _to_controllers(deployment: Deployment, source: Broker, down: frozenset[str]) -> Iterator[Edge]:
    by_id = {b.config.node_id: b.name for b in cluster_of(deployment, source) if b.config.is_controller}
    entries = [(by_id.get(node_id, ""), host, port) for node_id, host, port in source.config.voters]
    if not entries:
        text = source.config.value("controller.quorum.bootstrap.servers") or ""
        servers = well_formed(parse_listeners(",".join(f"C://{item.strip()}" for item in text.split(",") if item)))
        entries = [("", entry.endpoint.host, entry.endpoint.port) for entry in servers]
    for name, host, port in entries:
        address = Address(host=host, port=port)
        target = name or _meant(deployment, source, host)
        if target == source.name:
            continue
        yield Edge(
            kind=EdgeKind.CONTROLLER,
            source=source.name,
            target=target,
            address=address,
            predicted=_predicted(deployment, source, address, down),
        )


def _to_zookeeper(deployment: Deployment, source: Broker, down: frozenset[str]) -> Iterator[Edge]:
    for host, port in parse_connect(source.config.value("zookeeper.connect") or ""):
        target = _meant(deployment, source, host)
        yield Edge(
            kind=EdgeKind.ZOOKEEPER,
            source=source.name,
            target=target,
            address=Address(host=host, port=port),
            predicted=_zookeeper(deployment, source, host, down),
        )


def _predicted(deployment: Deployment, source: Broker, address: Address, down: frozenset[str]) -> Contact:
    """Where a connection ends: that a listener is reached is all that counts here."""
    resolution = resolve(deployment, inside(source), address.host, down)
    if isinstance(resolution, Unresolved):
        return Failed(reason=Reason.UNRESOLVED, because=resolution.because, mechanism=resolution.mechanism)
    if isinstance(resolution, Unmodelled):
        return Unknown(because=resolution.because)
    ends = {_end(deliver(deployment, inside(source), target, address.port, down)) for target in resolution}
    return ends.pop() if len(ends) == 1 else Unknown(because=f"{address.host} stands for addresses that differ")


def _end(delivery: Delivery) -> Contact:
    match delivery:
        case Landed():
            because = f"{delivery.broker.name} listens there as {delivery.entry.endpoint.listener}"
            return Answered(node_id=delivery.broker.config.node_id, cluster_id=None, because=because)
        case Unmodelled():
            return Unknown(because=delivery.because)
        case Failed():
            return delivery
        case _:
            assert_never(delivery)


def _zookeeper(deployment: Deployment, source: Broker, host: str, down: frozenset[str]) -> Contact:
    """What the model can say: whether the name leads to a container that runs; its ports are not modelled."""
    resolution = resolve(deployment, inside(source), host, down)
    match resolution:
        case Unresolved():
            return Failed(reason=Reason.UNRESOLVED, because=resolution.because, mechanism=resolution.mechanism)
        case Unmodelled():
            return Unknown(because=resolution.because)
        case (MemberAddress() as first,):
            return _at_member(deployment.by_name, first, source, down)
        case _:
            return Unknown(because=f"whether ZooKeeper is behind {host} cannot be told from here")


def _at_member(members: Mapping[str, object], found: MemberAddress, source: Broker, down: frozenset[str]) -> Contact:
    if found.member in down:
        return Failed(reason=Reason.TIMEOUT, because=f"{found.member} is not running", mechanism=Mechanism.NOT_RUNNING)
    if found.member in members and source.member.on(found.network) is not None:
        return Answered(node_id=None, cluster_id=None, because=f"{found.member} is taken to serve ZooKeeper")
    return Unknown(because=f"whether {found.member} can be reached cannot be told from here")


def _meant(deployment: Deployment, source: Broker, host: str) -> str:
    """Whom a host means, running or not; empty where nobody shown has the name, or several have."""
    resolution = resolve(deployment, inside(source), host, _NOWHERE)
    if isinstance(resolution, tuple):
        names = {target.member for target in resolution if isinstance(target, MemberAddress)}
    else:
        names = {member.name for member in deployment.known_as.get(host, ())}
    return names.pop() if len(names) == 1 else ""
