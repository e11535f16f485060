"""Where a client can stand, and which addresses somebody there would try first."""

from dataclasses import replace
from enum import Enum

from netdiag.deployment.model.contact import Address
from netdiag.deployment.model.deployment import Broker, Deployment, Member, NetworkKind, NetworkMode
from netdiag.values import dataclass

DOCKER_HOST = "<docker-host>"


class VantageKind(Enum):
    """The letters of the scenarios."""

    DOCKER_HOST = "H"
    BROKER = "B"
    CONTAINER = "C"
    OTHER_NETWORK = "O"
    LAN = "L"


@dataclass(frozen=True, slots=True, kw_only=True)
class Vantage:
    """A place to connect from.

    `member` is the container stood in, where there is one; `networks` are those a container at this vantage
    is attached to (none for the docker host and the LAN).
    """

    kind: VantageKind
    label: str
    member: str | None = None
    networks: tuple[str, ...] = ()


def vantages(deployment: Deployment) -> tuple[Vantage, ...]:
    """The vantages of a deployment, outermost first; a broker that is down has no inside to stand in."""
    found = [Vantage(kind=VantageKind.DOCKER_HOST, label="docker host")]
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
            found[Address(host=_name(broker), port=entry.endpoint.port)] = None
    for broker in brokers:
        for entry in broker.config.advertised_listeners:
            if entry.endpoint.host:
                found[Address(host=entry.endpoint.host, port=entry.endpoint.port)] = None
    ports = sorted({p for b in brokers for p in _published_ports(b)})
    own = sorted({e.endpoint.port for b in brokers for e in b.config.broker_listeners})
    for port in [*ports, *own]:
        found[Address(host="localhost", port=port)] = None
    hosts = deployment.host_addresses or (DOCKER_HOST,)
    for port in ports:
        found[Address(host=hosts[0], port=port)] = None
    return tuple(address for address in found if 0 < address.port < 65536)


def _published_ports(broker: Broker) -> set[int]:
    """The ports of the docker host through which this broker's Kafka listeners can be entered."""
    own = {entry.endpoint.port for entry in broker.config.broker_listeners}
    if broker.member.mode is NetworkMode.HOST:
        return own
    return {p.published for p in broker.member.published if p.published and p.protocol == "tcp" and p.target in own}


def _name(broker: Broker) -> str:
    return broker.member.service or broker.name
