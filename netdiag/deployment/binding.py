"""Which addresses a listener really binds inside its container."""

from dataclasses import dataclass
from enum import Enum

from netdiag.deployment.member import Broker, Deployment, NetworkMode
from netdiag.deployment.naming import (
    Loopback,
    MemberAddress,
    OutsideAddress,
    Unmodelled,
    Unresolved,
    VacantAddress,
    network_owner,
    resolve,
)
from netdiag.deployment.vantage import inside
from netdiag.kafka.listeners import ListenerEntry, is_loopback, is_wildcard


class Reach(Enum):
    """How much of the container a listener covers."""

    EVERYWHERE = "everywhere"
    LOOPBACK = "loopback"
    ONE_NETWORK = "one network"
    FOREIGN = "foreign"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """What one listener binds; `because` is set for FOREIGN and UNKNOWN.

    `network` is that of ONE_NETWORK; None where it is an address of the docker host, in host mode.
    """

    reach: Reach
    network: str | None = None
    because: str = ""


def binding(deployment: Deployment, broker: Broker, entry: ListenerEntry) -> Binding:
    """What `entry` binds in this broker's container.

    A name is looked up as the container itself would; with several addresses the JVM takes the first.
    """
    host = entry.endpoint.host
    if is_wildcard(host):
        return Binding(reach=Reach.EVERYWHERE)
    if is_loopback(host):
        return Binding(reach=Reach.LOOPBACK)
    owner = network_owner(deployment, broker.member)
    if owner.mode is NetworkMode.HOST:
        known = host in deployment.host_addresses
        because = "" if known else f"whether {host} is an address of the docker host cannot be told"
        return Binding(reach=Reach.ONE_NETWORK if known else Reach.UNKNOWN, because=because)
    return _bound_by_resolution(deployment, broker, host)


def _bound_by_resolution(deployment: Deployment, broker: Broker, host: str) -> Binding:
    owner = network_owner(deployment, broker.member)
    resolution = resolve(deployment, inside(broker), host, frozenset())
    match resolution:
        case Unresolved():
            return Binding(reach=Reach.FOREIGN, because=resolution.because)
        case Unmodelled() | (OutsideAddress(), *_) | (VacantAddress(), *_):
            return _unmodelled_literal(deployment, broker, host)
        case (MemberAddress() as first, *rest) if first.member == owner.name:
            if rest and host in owner.hostnames:
                because = "the order of addresses in the container's hosts file is the engine's choice"
                return Binding(reach=Reach.UNKNOWN, because=because)
            return Binding(reach=Reach.ONE_NETWORK, network=first.network)
        case (Loopback(), *_):
            return Binding(reach=Reach.LOOPBACK)
        case _:
            return Binding(reach=Reach.FOREIGN, because=f"{host} is not an address of this container")


def _unmodelled_literal(deployment: Deployment, broker: Broker, host: str) -> Binding:
    """A number that no declared address explains: foreign once every address of the container is known or chosen."""
    owner = network_owner(deployment, broker.member)
    if owner.mode is not NetworkMode.NETWORKS or not owner.attachments:
        return Binding(reach=Reach.UNKNOWN, because=f"whether the container owns {host} cannot be told")
    if any(deployment.networks[a.network].external for a in owner.attachments if a.network in deployment.networks):
        return Binding(reach=Reach.UNKNOWN, because="an external network may give the container this address")
    return Binding(reach=Reach.FOREIGN, because=f"nothing gives this container the address {host}")
