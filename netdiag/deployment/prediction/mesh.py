"""The connections that the members of a cluster need to each other: between brokers, controllers and ZooKeeper.

An edge is seen from inside the namespace of its source, which is why a cluster may look whole from every client and
still be cut.
"""

from collections.abc import Iterator
from enum import StrEnum

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.model.vantage import broker_vantage
from netdiag.deployment.model.verdict import (
    Address,
    Ambiguous,
    Answered,
    Contact,
    Failed,
    Mechanism,
    Reason,
    Unknown,
    Word,
    timed_out,
)
from netdiag.deployment.prediction.client_namespace import MemberAddress, resolve
from netdiag.deployment.prediction.cluster import advertised_host, cluster_of
from netdiag.deployment.prediction.connection import connect
from netdiag.deployment.prediction.sockets import Accepted, ConnectionResult
from netdiag.kafka.broker_config import Mode
from netdiag.kafka.listeners import parse_listeners, parse_zookeeper_connect, well_formed
from netdiag.values import dataclass

# The listener is reached; that it wants a secured client is no matter of the network.
_SECURED = (Reason.TLS, Reason.SASL)


class EdgeKind(StrEnum):
    """What the source wants of the target; the value is the word users see.

    INTER_BROKER: replication and forwarded requests, to the endpoint that the target advertises on its inter-broker
    listener. CONTROLLER: the KRaft quorum, to an entry of controller.quorum.voters or bootstrap.servers. ZOOKEEPER: an
    entry of zookeeper.connect. COORDINATOR: a client, to the broker that coordinates a consumer group.
    """

    INTER_BROKER = "inter-broker"
    CONTROLLER = "controller"
    ZOOKEEPER = "zookeeper"
    COORDINATOR = "coordinator"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """One way of talking. `source` and `target` are member names, `target` "" where nobody shown has the address.

    `node_id` is who has to answer there, None where any answer will do.
    """

    kind: EdgeKind
    source: str
    target: str
    address: Address
    predicted: Contact | None = None
    observed: Contact | None = None
    node_id: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mesh:
    """All edges of what was looked at, by kind, source and target; `skipped` tells by source why it was not entered."""

    edges: tuple[Edge, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()


_KINDS = tuple(EdgeKind)


def mesh_edges(deployment: Deployment) -> tuple[Edge, ...]:
    """Every edge that should be there, with its prediction, by kind, source and target.

    Nothing starts at a member that does not run, but all that leads there counts.
    """
    sources = [broker for broker in deployment.serving if deployment.is_running(broker.member)]
    edges = [edge for source in sources for edge in _edges_of(deployment, source)]
    distinct = {(e.kind, e.source, e.target, e.address): e for e in edges}.values()
    return tuple(sorted(distinct, key=_order))


def edge_outcome(edge: Edge, contact: Contact) -> str:
    """What a contact is worth for an edge, in one word: "ok", "wrong-broker", a reason, "unknown"."""
    match contact:
        case Unknown() | Ambiguous():
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
    return edge_outcome(edge, edge.observed) != Word.OK.value


def contact_between_members(contact: Contact, kind: EdgeKind) -> Contact:
    """What a client's contact means between members: that a controller's listener serves no clients is as it should."""
    controller = isinstance(contact, Failed) and contact.mechanism is Mechanism.CONTROLLER_LISTENER
    if kind is EdgeKind.CONTROLLER and isinstance(contact, Failed) and controller:
        return Answered(node_id=None, cluster_id=None, ip=contact.ip, because=contact.because)
    return contact


def _edges_of(deployment: Deployment, source: Broker) -> Iterator[Edge]:
    if source.config.is_broker:
        yield from _to_brokers(deployment, source)
    match source.config.mode:
        case Mode.KRAFT:
            yield from _to_controllers(deployment, source)
        case Mode.ZOOKEEPER:
            yield from _to_zookeeper(deployment, source)
        case _:
            return


def _to_brokers(deployment: Deployment, source: Broker) -> Iterator[Edge]:
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
                predicted=_predicted(deployment, source, address),
                node_id=other.config.node_id,
            )


def _predicted(deployment: Deployment, source: Broker, address: Address) -> Contact:
    """Where a connection ends: that a listener is reached is all that counts here."""
    resolution = resolve(deployment, broker_vantage(source), address.host)
    if not isinstance(resolution, tuple):
        return resolution
    ends = {_contact(connect(deployment, broker_vantage(source), target, address.port)) for target in resolution}
    return ends.pop() if len(ends) == 1 else Unknown(because=f"{address.host} resolves to different addresses")


def _contact(delivery: ConnectionResult) -> Contact:
    if not isinstance(delivery, Accepted):
        return delivery
    because = f"{delivery.broker.name} listens there as {delivery.entry.endpoint.listener}"
    return Answered(node_id=delivery.broker.config.node_id, cluster_id=None, because=because)


def _to_controllers(deployment: Deployment, source: Broker) -> Iterator[Edge]:
    by_id = {b.config.node_id: b.name for b in cluster_of(deployment, source) if b.config.is_controller}
    entries = [(by_id.get(node_id, ""), host, port) for node_id, host, port in source.config.voters]
    if not entries:
        text = source.config.value("controller.quorum.bootstrap.servers") or ""
        servers = well_formed(parse_listeners(",".join(f"C://{item.strip()}" for item in text.split(",") if item)))
        entries = [("", entry.endpoint.host, entry.endpoint.port) for entry in servers]
    for name, host, port in entries:
        address = Address(host=host, port=port)
        target = name or _member_named(deployment, source, host)
        if target == source.name:
            continue
        yield Edge(
            kind=EdgeKind.CONTROLLER,
            source=source.name,
            target=target,
            address=address,
            predicted=_predicted(deployment, source, address),
        )


def _member_named(deployment: Deployment, source: Broker, host: str) -> str:
    """Whom a host means, running or not; empty where nobody shown has the name, or several have."""
    resolution = resolve(deployment.with_down(()), broker_vantage(source), host)
    if isinstance(resolution, tuple):
        names = {target.member for target in resolution if isinstance(target, MemberAddress)}
    else:
        names = {member.name for member in deployment.members_by_any_name.get(host, ())}
    return names.pop() if len(names) == 1 else ""


def _to_zookeeper(deployment: Deployment, source: Broker) -> Iterator[Edge]:
    for host, port in parse_zookeeper_connect(source.config.value("zookeeper.connect") or ""):
        target = _member_named(deployment, source, host)
        yield Edge(
            kind=EdgeKind.ZOOKEEPER,
            source=source.name,
            target=target,
            address=Address(host=host, port=port),
            predicted=_zookeeper(deployment, source, host),
        )


def _zookeeper(deployment: Deployment, source: Broker, host: str) -> Contact:
    """What the model can say: whether the name leads to a container that runs; its ports are not modelled."""
    resolution = resolve(deployment, broker_vantage(source), host)
    match resolution:
        case Failed() | Unknown():
            return resolution
        case (MemberAddress(member=member, network=network),):
            if member in deployment.down:
                return timed_out(Mechanism.NOT_RUNNING, f"{member} is not running")
            if source.member.on(network) is not None:
                return Answered(node_id=None, cluster_id=None, because=f"{member} is taken to serve ZooKeeper")
            return Unknown(because=f"whether {member} can be reached is unknown from here")
        case _:
            return Unknown(because=f"netdiag does not know whether {host} is ZooKeeper")


def _order(edge: Edge) -> tuple[object, ...]:
    return (_KINDS.index(edge.kind), edge.source, edge.target, edge.address)
