"""Where a client can stand, and which addresses somebody there would try first."""

from dataclasses import replace
from enum import Enum

from netdiag.deployment.model.deployment import Broker, Deployment, HostKind, Member, NetworkKind, NetworkMode, Relay
from netdiag.deployment.model.verdict import Address
from netdiag.kafka.listeners import is_loopback, is_wildcard
from netdiag.values import dataclass

DOCKER_HOST = "<docker-host>"


class VantageKind(Enum):
    """The letters of the scenarios; POD, NODE and OUTSIDE are the places of Kubernetes."""

    DOCKER_HOST = "H"
    BROKER = "B"
    CONTAINER = "C"
    OTHER_NETWORK = "O"
    LAN = "L"
    POD = "P"
    NODE = "N"
    OUTSIDE = "X"


@dataclass(frozen=True, slots=True, kw_only=True)
class Vantage:
    """A place to connect from.

    `member` is the container stood in, where there is one; `networks` are those a container at this vantage
    is attached to (none for the docker host and the LAN); for a pod, that is its namespace.
    """

    kind: VantageKind
    label: str
    member: str | None = None
    networks: tuple[str, ...] = ()


def vantages(deployment: Deployment) -> tuple[Vantage, ...]:
    """The vantages of a deployment, outermost first; a broker that is down has no inside to stand in."""
    swarm = deployment.platform.kind is HostKind.SWARM
    found = [replace(docker_host(), label="node of the swarm") if swarm else docker_host()]
    found += [
        broker_vantage(broker)
        for broker in deployment.brokers
        if broker.config.is_broker and broker.name not in deployment.down
    ]
    found += [
        Vantage(kind=VantageKind.CONTAINER, label=f"container on {network}", networks=(network,))
        for network in client_networks(deployment)
    ]
    found.append(Vantage(kind=VantageKind.OTHER_NETWORK, label="container elsewhere"))
    found.append(Vantage(kind=VantageKind.LAN, label="LAN machine"))
    return tuple(found)


def docker_host() -> Vantage:
    """The vantage of the docker host; of the user's machine where the engine runs in a virtual machine."""
    return Vantage(kind=VantageKind.DOCKER_HOST, label="docker host")


def broker_vantage(broker: Broker) -> Vantage:
    """The vantage of a broker's own container."""
    return replace(container_vantage(broker.member), kind=VantageKind.BROKER)


def container_vantage(member: Member) -> Vantage:
    """The vantage inside a member's container."""
    networks = tuple(a.network for a in member.attachments)
    return Vantage(kind=VantageKind.CONTAINER, label=f"inside {member.name}", member=member.name, networks=networks)


def client_networks(deployment: Deployment) -> tuple[str, ...]:
    """The user-defined networks that brokers are on, in order of appearance."""
    keys = dict.fromkeys(a.network for b in deployment.brokers for a in b.member.attachments)
    return tuple(
        key
        for key in keys
        if key in deployment.networks and deployment.networks[key].kind is not NetworkKind.DEFAULT_BRIDGE
    )


def bootstraps(deployment: Deployment) -> tuple[Address, ...]:
    """The addresses that people try for these brokers: service names, published ports, what is advertised."""
    found: dict[Address, None] = {}
    brokers = [broker for broker in deployment.brokers if broker.config.is_broker]
    for broker in brokers:
        for entry in broker.config.broker_listeners:
            for name in broker.member.known_as:
                found[Address(host=name, port=entry.endpoint.port)] = None
    for broker in brokers:
        for entry in broker.config.advertised_listeners:
            if entry.endpoint.host:
                found[Address(host=entry.endpoint.host, port=entry.endpoint.port)] = None
    relays = relays_to_brokers(deployment)
    for relay in relays:
        member = deployment.by_name.get(relay.member) if relay.member else None
        if member is not None and member.attachments:
            found[Address(host=member.service or member.name, port=relay.port)] = None
        else:
            found[Address(host="localhost", port=relay.port)] = None
    relayed = {p for relay in relays for p in _ports_of_relay(deployment, relay)}
    ports = sorted({p for b in brokers for p in _published_ports(b)} | relayed)
    own = sorted({e.endpoint.port for b in brokers for e in b.config.broker_listeners})
    for port in [*ports, *own]:
        found[Address(host="localhost", port=port)] = None
    hosts = deployment.host_addresses or (DOCKER_HOST,)
    published = [p for broker in brokers for p in broker.member.published]
    only_ipv6 = {p.published for p in published if p.host_ip == "::"} - {
        p.published for p in published if p.host_ip != "::"
    }
    for port in ports:
        if port not in only_ipv6 or ":" in hosts[0]:
            found[Address(host=hosts[0], port=port)] = None
    return tuple(address for address in found if 0 < address.port < 65536)


def relays_to_brokers(deployment: Deployment) -> tuple[Relay, ...]:
    """The relays that lead to a port of a broker, or to another such relay."""
    ports = {entry.endpoint.port for broker in deployment.brokers for entry in broker.config.listeners}
    named = {name for broker in deployment.brokers for name in broker.member.all_names}
    chosen: dict[Relay, None] = {}
    left = list(deployment.relays)
    while True:
        new = [
            relay
            for relay in left
            for address in [relay.targets[0].address]
            if address.port in ports and (relay.through or address.host in named or address.host[:1].isdigit())
        ]
        if not new:
            return tuple(chosen)
        chosen.update(dict.fromkeys(new))
        left = [relay for relay in left if relay not in chosen]
        ports = {relay.port for relay in new}
        named = {
            name
            for relay in new
            if relay.member and relay.member in deployment.by_name
            for name in deployment.by_name[relay.member].all_names
        }


def _ports_of_relay(deployment: Deployment, relay: Relay) -> set[int]:
    """The ports of the docker host that lead to a relay."""
    member = deployment.by_name.get(relay.member) if relay.member else None
    if member is None or member.mode is NetworkMode.HOST:
        return {relay.port}
    return {p.published for p in member.published if p.published and p.protocol == "tcp" and p.target == relay.port}


def own_addresses(broker: Broker) -> tuple[Address, ...]:
    """Where a broker's listeners for clients can be entered from inside its own container, by loopback."""
    ends = (entry.endpoint for entry in broker.config.broker_listeners)
    bound = (end for end in ends if is_wildcard(end.host) or is_loopback(end.host))
    return tuple(Address(host="localhost", port=end.port) for end in bound if 0 < end.port < 65536)


def _published_ports(broker: Broker) -> set[int]:
    """The ports of the docker host through which this broker's Kafka listeners can be entered."""
    own = {entry.endpoint.port for entry in broker.config.broker_listeners}
    if broker.member.mode is NetworkMode.HOST:
        return own
    return {p.published for p in broker.member.published if p.published and p.protocol == "tcp" and p.target in own}
