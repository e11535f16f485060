"""What happens to a connection at a vantage: the model of loopback, bridges, publishing and isolation.

Row numbers in comments are those of the decision table in docs/reachability.md. What the table does not cover
is `Unmodelled`, never a guess.
"""

from dataclasses import dataclass, replace
from typing import assert_never

from netdiag.deployment.binding import Binding, Reach, binding
from netdiag.deployment.mechanism import Mechanism
from netdiag.deployment.member import Broker, Deployment, Member, NetworkMode, PublishedPort
from netdiag.deployment.naming import (
    HostAddress,
    Loopback,
    MemberAddress,
    Target,
    Unmodelled,
    member_at,
    network_owner,
    running,
)
from netdiag.deployment.observations import Failed, Reason
from netdiag.deployment.vantage import Vantage, VantageKind
from netdiag.kafka.listeners import ListenerEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class Landed:
    """The connection is accepted by this listener of this broker."""

    broker: Broker
    entry: ListenerEntry
    because: str


Delivery = Landed | Failed | Unmodelled


def deliver(deployment: Deployment, vantage: Vantage, target: Target, port: int, down: frozenset[str]) -> Delivery:
    """Where a connection from `vantage` to `target`:`port` ends."""
    inside = member_at(deployment, vantage)
    owner = network_owner(deployment, inside) if inside else None
    in_host = vantage.kind is VantageKind.DOCKER_HOST or (owner is not None and owner.mode is NetworkMode.HOST)
    match target:
        case Loopback():
            return _to_loopback(deployment, vantage, owner, in_host, port, down)
        case MemberAddress():
            return _to_member(deployment, vantage, owner, in_host, target, port, down)
        case HostAddress():
            return _to_host(deployment, vantage, owner, in_host, target, port, down)
        case _:
            assert_never(target)


def _to_loopback(
    deployment: Deployment, vantage: Vantage, owner: Member | None, in_host: bool, port: int, down: frozenset[str]
) -> Delivery:
    if in_host:
        return _to_host_loopback(deployment, port, down)
    if owner is None:
        who = "the LAN machine" if vantage.kind is VantageKind.LAN else "the client container"
        return _refused(Mechanism.OWN_LOOPBACK, f"localhost is {who} itself")
    for broker, entry, bound in _sockets(deployment, owner, port, down):
        if bound.reach in (Reach.EVERYWHERE, Reach.LOOPBACK):
            return Landed(broker=broker, entry=entry, because="its own loopback")
        if bound.reach is Reach.UNKNOWN:
            return Unmodelled(because=bound.because)
    if _is_opaque(deployment, owner):
        return Unmodelled(because=f"what {owner.name} listens on cannot be told")
    return _refused(Mechanism.OWN_LOOPBACK, f"nothing listens on port {port} of the container's own loopback")


def _to_host_loopback(deployment: Deployment, port: int, down: frozenset[str]) -> Delivery:
    host_mode = _host_mode_socket(deployment, port, down, loopback=True)
    if host_mode is not None:
        return host_mode
    published = [(m, p) for m, p in _publishers(deployment, port, down) if p.on_loopback]
    if not published:
        elsewhere = _publishers(deployment, port, down)
        if elsewhere:
            because = f"port {port} is published on {elsewhere[0][1].host_ip} only"
            return _refused(Mechanism.PUBLISHED_ON_OTHER_ADDRESS, because)
        return _nothing_published(deployment, port)
    landed = _through_publish(deployment, published, down)
    if isinstance(landed, Failed) and deployment.platform.userland_proxy is not False:
        # Row 20: docker-proxy accepts before it finds its backend dead.
        return _behind_proxy(landed)
    return landed


def _behind_proxy(landed: Failed) -> Failed:
    because = f"{landed.because}: docker-proxy accepts, then ends"
    return Failed(reason=Reason.CLOSED, because=because, mechanism=landed.mechanism)


def _to_member(
    deployment: Deployment,
    vantage: Vantage,
    owner: Member | None,
    in_host: bool,
    target: MemberAddress,
    port: int,
    down: frozenset[str],
) -> Delivery:
    member = deployment.by_name[target.member]
    if vantage.kind is VantageKind.LAN:
        return Unmodelled(because="whether the LAN has a route to container addresses cannot be told")
    if not running(member, down):
        because = f"{member.name} is not running"
        return Failed(reason=Reason.TIMEOUT, because=because, mechanism=Mechanism.NOT_RUNNING)
    networks = tuple(a.network for a in owner.attachments) if owner else vantage.networks
    if not in_host and target.network not in networks and owner is not member:
        # Row 8: bridges are isolated from each other by dropping.
        because = "Docker drops traffic between networks"
        return Failed(reason=Reason.TIMEOUT, because=because, mechanism=Mechanism.NETWORK_ISOLATION)
    return _enter(deployment, member, target.network, port, down)


def _to_host(
    deployment: Deployment,
    vantage: Vantage,
    owner: Member | None,
    in_host: bool,
    target: HostAddress,
    port: int,
    down: frozenset[str],
) -> Delivery:
    host_mode = _host_mode_socket(deployment, port, down, loopback=False)
    if host_mode is not None:
        return host_mode
    published = [
        (m, p) for m, p in _publishers(deployment, port, down) if p.on_all_addresses or p.host_ip == target.text
    ]
    if not published:
        if any(not p.on_loopback for _, p in _publishers(deployment, port, down)):
            return Unmodelled(because="the port is published on another address of the docker host")
        if _publishers(deployment, port, down):
            because = f"port {port} is published on the docker host's loopback only"
            return _refused(Mechanism.PUBLISHED_ON_OTHER_ADDRESS, because)
        return _nothing_published(deployment, port)
    landed = _through_publish(deployment, published, down)
    from_container = not in_host and vantage.kind is not VantageKind.LAN
    if not from_container:
        return landed
    if deployment.platform.userland_proxy is False:
        return Unmodelled(because="without userland proxy this depends on the engine's generation")
    if isinstance(landed, Failed):
        return _behind_proxy(landed)
    return landed


def _through_publish(
    deployment: Deployment, published: list[tuple[Member, PublishedPort]], down: frozenset[str]
) -> Delivery:
    """Through the engine's DNAT rule or proxy, to the first network of the one container that publishes."""
    members = dict.fromkeys(member.name for member, _ in published)
    if len(members) > 1:
        return Unmodelled(because=f"{' and '.join(members)} both publish the port")
    member, port = published[0]
    landed = _enter(deployment, member, _outward(deployment, member)[0], port.target, down)
    if isinstance(landed, Failed) and landed.mechanism is Mechanism.NOBODY_LISTENS:
        return replace(landed, mechanism=Mechanism.PUBLISHED_TO_DEAD_PORT)
    return landed


def _outward(deployment: Deployment, member: Member) -> list[str]:
    """The networks of a member that the engine publishes through: those that are not internal."""
    return [
        a.network
        for a in member.attachments
        if a.network not in deployment.networks or not deployment.networks[a.network].internal
    ]


def _enter(deployment: Deployment, member: Member, network: str, port: int, down: frozenset[str]) -> Delivery:
    """At a member's address on a network: which of its listeners accepts."""
    sockets = list(_sockets(deployment, member, port, down))
    for broker, entry, bound in sockets:
        if bound.reach is Reach.EVERYWHERE or (bound.reach is Reach.ONE_NETWORK and bound.network == network):
            return Landed(broker=broker, entry=entry, because=f"{member.name} port {port}")
        if bound.reach is Reach.UNKNOWN:
            return Unmodelled(because=bound.because)
    if not sockets and (_is_opaque(deployment, member) or not _is_broker(deployment, member)):
        return Unmodelled(because=f"what {member.name} listens on cannot be told")
    where = f"{member.name} port {port}"
    for _, entry, bound in sockets:
        if bound.reach is Reach.LOOPBACK:
            return _refused(Mechanism.BOUND_TO_LOOPBACK, f"{where} is bound to {entry.endpoint.host} only")
        if bound.reach is Reach.ONE_NETWORK:
            because = f"{where} is bound to its address on {bound.network} only"
            return _refused(Mechanism.BOUND_TO_OTHER_ADDRESS, because)
    return _refused(Mechanism.NOBODY_LISTENS, f"{where} has no listener")


def _refused(mechanism: Mechanism, because: str) -> Failed:
    return Failed(reason=Reason.REFUSED, because=because, mechanism=mechanism)


def _sockets(
    deployment: Deployment, owner: Member, port: int, down: frozenset[str]
) -> list[tuple[Broker, ListenerEntry, Binding]]:
    """The listeners on `port` in the namespace of `owner`, whoever opened them."""
    return [
        (broker, entry, binding(deployment, broker, entry))
        for broker, entry in deployment.listening.get((owner.name, port), ())
        if running(broker.member, down)
    ]


def _host_mode_socket(deployment: Deployment, port: int, down: frozenset[str], *, loopback: bool) -> Landed | None:
    for broker in deployment.brokers:
        owner = network_owner(deployment, broker.member)
        if owner.mode is not NetworkMode.HOST:
            continue
        for _, entry, bound in _sockets(deployment, owner, port, down):
            if bound.reach is Reach.EVERYWHERE or (loopback and bound.reach is Reach.LOOPBACK):
                return Landed(broker=broker, entry=entry, because="the host's own network")
    return None


def _publishers(deployment: Deployment, port: int, down: frozenset[str]) -> list[tuple[Member, PublishedPort]]:
    return [
        (member, published)
        for member, published in deployment.publishing.get(port, ())
        if running(member, down)
        and member.mode in (NetworkMode.NETWORKS, NetworkMode.DEFAULT_BRIDGE)
        and _outward(deployment, member)
    ]


def _nothing_published(deployment: Deployment, port: int) -> Failed:
    silent = [member for member, _ in deployment.publishing.get(port, ())]
    if silent and silent[0].attachments and not _outward(deployment, silent[0]):
        because = f"{silent[0].name} is on internal networks only, through which nothing is published"
        return _refused(Mechanism.PUBLISHED_BY_INTERNAL, because)
    if silent and silent[0].mode is NetworkMode.HOST:
        because = f"{silent[0].name} is in host mode, where what it publishes is discarded"
        return _refused(Mechanism.PUBLISHED_IN_HOST_MODE, because)
    if silent:
        return _refused(Mechanism.NOT_RUNNING, f"{silent[0].name} publishes port {port} but is not running")
    return _refused(Mechanism.NOT_PUBLISHED, f"nothing is published on port {port} of the docker host")


def _is_opaque(deployment: Deployment, owner: Member) -> bool:
    """Whether a broker in this namespace has listeners that nobody here can know."""
    return any(
        broker.config.is_unknown("listeners") and network_owner(deployment, broker.member) is owner
        for broker in deployment.brokers
    )


def _is_broker(deployment: Deployment, member: Member) -> bool:
    return any(network_owner(deployment, broker.member) is member for broker in deployment.brokers)
