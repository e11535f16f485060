"""Relays that nobody declares: where a broker answers at a port that is no broker's, something passes on to it.

Which listener is behind it is told by the connections of its namespace, and by the answer: a listener is known by the
addresses that it advertises. Where both tell, the listener that both name is behind it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from netdiag.deployment.model.deployment import Broker, Deployment, NetworkMode, Relay, RelayTarget
from netdiag.deployment.model.vantage import Vantage, container_vantage
from netdiag.deployment.model.verdict import Address, Answered, Cell
from netdiag.deployment.prediction.client_namespace import (
    Loopback,
    MemberAddress,
    NamespaceKind,
    client_namespace,
    network_owner,
    resolve,
)
from netdiag.deployment.prediction.sockets import Reach, binding
from netdiag.findings import ContainerLocation
from netdiag.kafka.listeners import ListenerEntry
from netdiag.linux.sockets import Peer

_Port = tuple[str | None, int]
Listening = tuple[Broker, ListenerEntry]
NO_PEERS: Mapping[str, Sequence[Peer]] = {}


def observed_relays(
    deployment: Deployment,
    vantages: Iterable[Vantage],
    cells: Iterable[Cell],
    peers: Mapping[str, Sequence[Peer]] = NO_PEERS,
) -> tuple[Relay, ...]:
    """The relays that cells show and the deployment does not know; `peers` are whom members have connected to."""
    entered = list(_answering(deployment, vantages, cells))
    # What answers at the brokers' own ports tells their cluster from another one with the same addresses.
    clusters = {answered.cluster_id for (owner, port), answered in entered if _is_listener(deployment, owner, port)}
    found: dict[_Port, dict[RelayTarget, Relay] | None] = {}
    for (owner, port), answered in entered:
        if _is_explained(deployment, owner, port):
            continue
        connected = _connected(deployment, owner, peers)
        relay = None
        if not clusters or answered.cluster_id in clusters:
            told = _listener(deployment, answered)
            relay = _by_connections(owner, port, answered, told, connected)
            if relay is None and told is not None and not connected:
                relay = _relay(deployment, owner, port, *told)
        known = found.setdefault((owner, port), {})
        if relay is None or (known and not connected and relay.targets[0] not in known):
            # Where two answers differ, the connections are divided among several.
            found[owner, port] = None
        elif known is not None:
            known[relay.targets[0]] = relay
    return tuple(_joined(relays) for relays in found.values() if relays)


def with_unknown_relays(deployment: Deployment, vantages: Iterable[Vantage], cells: Iterable[Cell]) -> frozenset[str]:
    """The members at whose ports a broker answers that nothing of the deployment explains."""
    return frozenset(
        owner
        for (owner, port), _ in _answering(deployment, vantages, cells)
        if owner is not None and not _is_explained(deployment, owner, port)
    )


def _answering(
    deployment: Deployment, vantages: Iterable[Vantage], cells: Iterable[Cell]
) -> Iterator[tuple[_Port, Answered]]:
    """Where the connections of the cells end, and which broker answers there."""
    places = {vantage.label: vantage for vantage in vantages}
    for cell in cells:
        vantage = places.get(cell.vantage)
        answered = cell.observed.bootstrap if cell.observed else None
        if vantage is not None and isinstance(answered, Answered) and not answered.foreign:
            for port in _entered(deployment, vantage, cell.bootstrap):
                yield port, answered


def _joined(relays: Mapping[RelayTarget, Relay]) -> Relay:
    """One relay with the targets of all."""
    return replace(next(iter(relays.values())), targets=tuple(relays))


def _connected(
    deployment: Deployment, owner: str | None, peers: Mapping[str, Sequence[Peer]]
) -> list[tuple[Listening, Address]]:
    """The listeners to which a member has connected, and by which address it names each."""
    member = deployment.by_name.get(owner or "")
    if member is None:
        return []
    vantage = container_vantage(member)
    found: list[tuple[Listening, Address]] = []
    for peer in peers.get(member.name, ()):
        match resolve(deployment, vantage, peer.address):
            case (MemberAddress(member=name),):
                for behind in deployment.listeners_by_port.get((name, peer.port), ()):
                    called = behind[0].member.service or behind[0].name
                    by_name = resolve(deployment, vantage, called)
                    plain = isinstance(by_name, tuple) and [
                        one.member for one in by_name if isinstance(one, MemberAddress)
                    ] == [name]
                    found.append((behind, Address(host=called if plain else peer.address, port=peer.port)))
    return found


def _by_connections(
    owner: str | None,
    port: int,
    answered: Answered,
    told: Listening | None,
    connected: Sequence[tuple[Listening, Address]],
) -> Relay | None:
    """The relay whose connections lead to the broker that answered; None where they do not tell which listener."""
    both = [one for one in connected if told is not None and one[0] == told]
    possible = both or [one for one in connected if answered.node_id in (None, one[0][0].config.node_id)]
    if len(possible) != 1:
        return None
    return Relay(
        program="a relay",
        member=owner,
        host="",
        port=port,
        targets=(RelayTarget(address=possible[0][1]),),
        where=ContainerLocation(container=owner or "docker host", part=f"port {port}"),
    )


def _is_explained(deployment: Deployment, owner: str | None, port: int) -> bool:
    return (owner, port) in deployment.relays_by_port or _is_listener(deployment, owner, port)


def _is_listener(deployment: Deployment, owner: str | None, port: int) -> bool:
    return (owner or "", port) in deployment.listeners_by_port


def _entered(deployment: Deployment, vantage: Vantage, address: Address) -> Iterator[_Port]:
    """The namespace (None: the docker host's) and port in which the connection to an address ends."""
    resolution = resolve(deployment, vantage, address.host)
    match resolution:
        case (MemberAddress() as only,):
            yield only.member, address.port
        case (Loopback(),):
            client = client_namespace(deployment, vantage)
            if client.ground is NamespaceKind.CONTAINER and client.owner is not None:
                yield client.owner.name, address.port
            elif client.ground is NamespaceKind.DOCKER_HOST:
                yield from _behind_host(deployment, address.port)


def _behind_host(deployment: Deployment, port: int) -> Iterator[_Port]:
    publishing = deployment.publishers_by_port.get(port, ())
    if not publishing:
        if not any((owner.name, port) in deployment.listeners_by_port for owner in deployment.host_mode_members):
            yield None, port
    elif len(publishing) == 1 and publishing[0][0].mode is not NetworkMode.HOST:
        member, published = publishing[0]
        yield network_owner(deployment, member).name, published.target


def _listener(deployment: Deployment, answered: Answered) -> Listening | None:
    """The one listener that names these brokers to its clients; None where none or several do."""
    own = next((one for one in answered.brokers if one.node_id == answered.node_id), None) or next(
        iter(answered.brokers), None
    )
    if own is None:
        return None
    found = [
        (broker, bound)
        for broker in deployment.brokers
        if broker.config.node_id == own.node_id
        for told in broker.config.advertised_listeners
        if (told.endpoint.host, told.endpoint.port) == (own.host, own.port)
        and (bound := broker.config.listener_by_name.get(told.endpoint.listener)) is not None
    ]
    return found[0] if len(found) == 1 else None


def _relay(deployment: Deployment, owner: str | None, port: int, broker: Broker, entry: ListenerEntry) -> Relay:
    """A relay whose connections are those of the broker's own container, as far as the model is concerned."""
    inside = binding(deployment, broker, entry).reach is Reach.LOOPBACK
    host = "localhost" if inside or not broker.member.attachments else broker.member.service or broker.name
    return Relay(
        program="a relay",
        member=owner,
        host="",
        port=port,
        targets=(RelayTarget(address=Address(host=host, port=entry.endpoint.port)),),
        where=ContainerLocation(container=owner or "docker host", part=f"port {port}"),
        through=broker.name,
    )
