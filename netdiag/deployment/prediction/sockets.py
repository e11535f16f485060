"""Which addresses a listener binds in its container, and which socket accepts a connection that arrives there.

A socket is a broker's or a relay's; of a namespace that has been looked into, others are known to be there.
"""

from collections.abc import Iterable, Iterator
from enum import Enum
from ipaddress import ip_address

from netdiag.deployment.model.deployment import Broker, Deployment, Member, NetworkMode, Relay, State
from netdiag.deployment.model.vantage import broker_vantage
from netdiag.deployment.model.verdict import Failed, Mechanism, Unknown, refused, timed_out
from netdiag.deployment.prediction.client_namespace import (
    Family,
    Loopback,
    MemberAddress,
    OutsideAddress,
    Undeclared,
    VacantAddress,
    network_owner,
    resolve,
)
from netdiag.kafka.broker_config import Mode
from netdiag.kafka.listeners import ListenerEntry, is_loopback, is_wildcard
from netdiag.values import dataclass


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The connection is accepted by this listener of this broker, behind `relays`, the client's first."""

    broker: Broker
    entry: ListenerEntry
    because: str
    relays: tuple[Relay, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Relayed:
    """The connection is accepted by a relay, which has yet to pass it on."""

    relay: Relay


SocketResult = Accepted | Relayed | Failed | Unknown
ConnectionResult = Accepted | Failed | Unknown
_Socket = tuple[Broker, ListenerEntry, Binding]


def accept_at_address(
    deployment: Deployment, member: Member, network: str, port: int, *, six: bool = False
) -> SocketResult:
    """At a member's address on a network."""
    where = f"{member.name} port {port}"
    found = list(_sockets(deployment, member, port))
    for broker, entry, bound in found:
        everywhere = bound.reach is Reach.EVERYWHERE and (not six or _accepts_ipv6(broker, entry))
        if everywhere or (bound.reach is Reach.ONE_NETWORK and bound.network == network and not six):
            return _accepted(broker, entry, where)
        if bound.reach is Reach.UNKNOWN or (six and bound.reach is Reach.ONE_NETWORK):
            return Unknown(because=bound.because or f"netdiag does not know which of its addresses {broker.name} binds")
    relayed = None if found else _at_relay(deployment, member.name, port, where, network=network)
    if relayed is not None:
        return relayed
    if not found and _has_unknown_sockets(deployment, member):
        return _observed_socket(member, port, where)
    for _, entry, bound in found:
        if bound.reach is Reach.LOOPBACK:
            return refused(Mechanism.BOUND_TO_LOOPBACK, f"{where} is bound only to {entry.endpoint.host}")
        if bound.reach is Reach.ONE_NETWORK:
            because = f"{where} is bound only to its address on {bound.network}"
            return refused(Mechanism.BOUND_TO_OTHER_ADDRESS, because)
        if bound.reach is Reach.EVERYWHERE:
            return refused(Mechanism.NO_IPV6_BINDING, f"{where} is bound only to IPv4")
    return refused(Mechanism.NOBODY_LISTENS, f"{where} has no listener")


def accept_at_loopback(deployment: Deployment, owner: Member, port: int, family: Family = Family.ANY) -> SocketResult:
    """At the loopback of a namespace, from inside."""
    found = list(_sockets(deployment, owner, port))
    for broker, entry, bound in found:
        if bound.reach in (Reach.EVERYWHERE, Reach.LOOPBACK) and _accepts_family(broker, entry, family):
            return _accepted(broker, entry, "its own loopback")
        if bound.reach is Reach.UNKNOWN:
            return Unknown(because=bound.because)
    relayed = None if found else _at_relay(deployment, owner.name, port, f"port {port}")
    if relayed is not None:
        return relayed
    if not found and owner.name in deployment.unknown_owners:
        return Unknown(because=f"netdiag does not know what {owner.name} listens on")
    if not found and any(number == port for _, number in owner.sockets or ()):
        return Unknown(because=f"netdiag does not know what listens on port {port} of {owner.name}")
    for _, entry, bound in found:
        host = entry.endpoint.host
        if bound.reach is Reach.ONE_NETWORK:
            because = f"port {port} is bound only to {host}, not to the container's loopback"
            return refused(Mechanism.BOUND_TO_OTHER_ADDRESS, because)
        if bound.reach is not Reach.FOREIGN:
            return refused(Mechanism.NO_IPV6_BINDING, f"port {port} is bound to {host}, which has the other IP version")
    return refused(Mechanism.OWN_LOOPBACK, f"nothing listens on port {port} of the container's loopback")


def accept_in_host_mode(
    deployment: Deployment, port: int, *, address: str | None, family: Family = Family.ANY
) -> SocketResult | None:
    """A listener in the docker host's own namespace, at an address of it or (None) at its loopback.

    None where no broker or relay there has the port.
    """
    loopback, closed = address is None, None
    for owner in deployment.host_mode_members:
        for broker, entry, bound in _sockets(deployment, owner, port):
            host = entry.endpoint.host
            covers = bound.reach is Reach.EVERYWHERE or (loopback and bound.reach is Reach.LOOPBACK)
            if (covers and _accepts_family(broker, entry, family)) or host == address:
                return _accepted(broker, entry, "the host's own network")
            if bound.reach is Reach.UNKNOWN or (bound.reach is Reach.ONE_NETWORK and not _is_number(address)):
                return Unknown(because=bound.because or f"netdiag does not know whether {address} is {host}")
            because = f"{broker.name} binds port {port} only to the docker host's {host}"
            only_loopback = bound.reach is Reach.LOOPBACK
            mechanism = Mechanism.BOUND_TO_LOOPBACK if only_loopback else Mechanism.BOUND_TO_OTHER_ADDRESS
            closed = refused(mechanism, because)
    for name in (None, *(owner.name for owner in deployment.host_mode_members)):
        relayed = None if closed else _at_relay(deployment, name, port, f"port {port}", address=address)
        if relayed is not None:
            return relayed
    return closed


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
        because = "" if known else f"netdiag does not know whether {host} is an address of the docker host"
        return Binding(reach=Reach.ONE_NETWORK if known else Reach.UNKNOWN, because=because)
    return _binding_by_name(deployment, broker, host)


def _sockets(deployment: Deployment, owner: Member, port: int) -> Iterator[_Socket]:
    """The listeners on `port` in the namespace of `owner`, whoever opened them."""
    for broker, entry in deployment.listeners_by_port.get((owner.name, port), ()):
        if deployment.is_running(broker.member):
            yield broker, entry, binding(deployment, broker, entry)


def _at_relay(
    deployment: Deployment, owner: str | None, port: int, where: str, *, network: str = "", address: str | None = None
) -> SocketResult | None:
    """The relay that has a port of a namespace; None where none has.

    It is entered through a network, at an address of the docker host, or (neither) at its loopback.
    """
    closed = None
    for relay in deployment.relays_by_port.get((owner, port), ()):
        member = deployment.by_name.get(relay.member) if relay.member else None
        if member is not None and not deployment.is_running(member):
            continue
        if relay.host and not _is_bound_at(member, relay.host, network, address):
            only = f"{where} is bound only to {relay.host}"
            mechanism = Mechanism.BOUND_TO_LOOPBACK if is_loopback(relay.host) else Mechanism.BOUND_TO_OTHER_ADDRESS
            closed = refused(mechanism, only)
        elif member is not None and member.state is State.PAUSED:
            return _paused(member)
        else:
            return Relayed(relay=relay)
    return closed


def _is_bound_at(member: Member | None, host: str, network: str, address: str | None) -> bool:
    """Whether an address that a relay binds is the one that a connection arrives at."""
    if not network:
        return is_loopback(host) if address is None else host == address
    attached = member.on(network) if member is not None else None
    return attached is not None and (host in attached.addresses or host in attached.names)


def _accepts_ipv6(broker: Broker, entry: ListenerEntry) -> bool:
    host = entry.endpoint.host
    return is_wildcard(host) and (broker.config.mode is not Mode.REDPANDA or ":" in host)


def _accepted(broker: Broker, entry: ListenerEntry, because: str) -> SocketResult:
    if broker.member.state is State.PAUSED:
        return _paused(broker.member)
    return Accepted(broker=broker, entry=entry, because=because)


def _paused(member: Member) -> Failed:
    because = f"{member.name} is paused: the kernel accepts connections, but no process answers"
    return timed_out(Mechanism.PAUSED, because, member.container or member.name)


def _has_unknown_sockets(deployment: Deployment, member: Member) -> bool:
    return member.name in deployment.unknown_owners or member.name not in deployment.broker_owners


def _observed_socket(member: Member, port: int, where: str) -> SocketResult:
    """What is known of a namespace without a broker's configuration: its sockets, where somebody has looked."""
    if member.sockets is None:
        return Unknown(because=f"netdiag does not know what {member.name} listens on")
    bound = [address for address, number in member.sockets if number == port]
    if not bound:
        return refused(Mechanism.NOBODY_LISTENS, f"{where} has no listener")
    if all(address == "::1" or address.startswith("127.") for address in bound):
        return refused(Mechanism.BOUND_TO_LOOPBACK, f"{where} is bound only to {bound[0]}")
    return Unknown(because=f"netdiag does not know what listens on {where}")


def _accepts_family(broker: Broker, entry: ListenerEntry, family: Family) -> bool:
    """Whether a socket takes a family of loopback: a JVM's wildcard is of both, and its localhost is 127.0.0.1."""
    host = entry.endpoint.host
    match family:
        case Family.ANY:
            return True
        case Family.IPV4:
            return host != "::1"
        case Family.IPV6:
            return host == "::1" or _accepts_ipv6(broker, entry)


def _is_number(address: str | None) -> bool:
    """Whether an address of the docker host (None: its loopback) is known by number."""
    try:
        return address is None or bool(ip_address(address))
    except ValueError:
        return False


def _binding_by_name(deployment: Deployment, broker: Broker, host: str) -> Binding:
    owner = network_owner(deployment, broker.member)
    resolution = resolve(deployment, broker_vantage(broker), host)
    match resolution:
        case Failed():
            return Binding(reach=Reach.FOREIGN, because=resolution.because)
        case Undeclared():
            # Whatever its resolver says, the container's own addresses have other names.
            return Binding(reach=Reach.FOREIGN, because=f"{host} is not an address of this container")
        case Unknown() | (OutsideAddress(), *_) | (VacantAddress(), *_):
            return _binding_of_number(deployment, broker, host)
        case (MemberAddress() as first, *rest) if first.member == owner.name:
            if rest and host in owner.hostnames:
                because = "the engine decides the order of addresses in the container's hosts file"
                return Binding(reach=Reach.UNKNOWN, because=because)
            if deployment.platform.is_podman and len(owner.attachments) > 1:
                because = f"with Podman, chance decides which of its addresses {host} is in a container on two networks"
                return Binding(reach=Reach.UNKNOWN, because=because)
            if host in owner.virtual_names and host not in owner.hostnames:
                because = f"{host} is a virtual address in a swarm, which the broker binds in the place of its own"
                return Binding(reach=Reach.UNKNOWN, because=because)
            return Binding(reach=Reach.ONE_NETWORK, network=first.network)
        case (Loopback(), *_):
            return Binding(reach=Reach.LOOPBACK)
        case (MemberAddress(), *_) if (network := _network_of_own(owner, resolution)) is not None:
            # An alias that others have too: the C library puts an address of the container itself first.
            return Binding(reach=Reach.ONE_NETWORK, network=network)
        case _:
            return Binding(reach=Reach.FOREIGN, because=f"{host} is not an address of this container")


def _network_of_own(owner: Member, targets: Iterable[object]) -> str | None:
    """The network of the first target that is an address of this member."""
    own = (one for one in targets if isinstance(one, MemberAddress) and one.member == owner.name)
    return next((one.network for one in own), None)


def _binding_of_number(deployment: Deployment, broker: Broker, host: str) -> Binding:
    """A number that no declared address explains: foreign once every address of the container is known or chosen."""
    owner = network_owner(deployment, broker.member)
    if owner.mode is not NetworkMode.NETWORKS or not owner.attachments:
        return Binding(
            reach=Reach.UNKNOWN, because=f"netdiag does not know whether the container has the address {host}"
        )
    if any(deployment.networks[a.network].external for a in owner.attachments if a.network in deployment.networks):
        return Binding(reach=Reach.UNKNOWN, because="an external network may give the container this address")
    return Binding(reach=Reach.FOREIGN, because=f"no network gives this container the address {host}")
