"""What happens to a connection: the model of loopback, bridges, isolation, routes and published ports.

Row numbers are those of the decision table in docs/reachability.md. What the table does not cover is `Unknown`,
never a guess. An obstacle is what stands between a client and the address of a container; None where nothing does.

The engine rewrites (DNAT) what is addressed to the docker host, except from loopback and, with the userland proxy,
from bridges whose containers the proxy serves; there docker-proxy accepts in the docker host's own namespace, before
it knows whether anybody listens behind. A relay does the same in its container, and connects anew from there.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace
from ipaddress import ip_address
from typing import assert_never

from netdiag.deployment.model.causes import published_by_stopped
from netdiag.deployment.model.deployment import (
    Deployment,
    Firewall,
    Generation,
    HostInput,
    HostKind,
    Member,
    Network,
    NetworkMode,
    Platform,
    PublishedPort,
    Relay,
    VirtualMachine,
)
from netdiag.deployment.model.vantage import DOCKER_HOST, Vantage, VantageKind, container_vantage
from netdiag.deployment.model.verdict import (
    Address,
    Failed,
    Mechanism,
    Reason,
    Unknown,
    refused,
    timed_out,
    unreachable,
)
from netdiag.deployment.prediction.client_namespace import (
    ClientNamespace,
    Family,
    HostAddress,
    Loopback,
    MemberAddress,
    NamespaceKind,
    NodeAddress,
    OutsideAddress,
    Target,
    VacantAddress,
    client_namespace,
    covers,
    has_real_parent,
    has_unsupported_gateway_mode,
    is_bridge,
    network_of,
    publishing_network,
    resolve,
    uses_parent_device,
)
from netdiag.deployment.prediction.podman import ROOTLESS_UNKNOWN, between_networks, held_port, is_rootful
from netdiag.deployment.prediction.sockets import (
    Accepted,
    ConnectionResult,
    Relayed,
    SocketResult,
    accept_at_address,
    accept_at_loopback,
    accept_in_host_mode,
)
from netdiag.values import dataclass

Obstacle = Failed | Unknown
_UNSUPPORTED_MODE = "engines before 27 ignore the gateway mode of {network}"
_MOST_RELAYS = 4
# They look their targets up once, when they start.
_RESOLVE_AT_START = ("HAProxy", "nginx")
# What keeps a port of a running container from being in force, while Podman holds it all the same.
_HELD = (Mechanism.PUBLISHED_BY_INTERNAL, Mechanism.PUBLISHED_BY_DISCONNECTED, Mechanism.NOT_PUBLISHED)
_LAN_ROUTES_UNKNOWN = "netdiag does not know whether the LAN has a route to container addresses"


@dataclass(frozen=True, slots=True, kw_only=True)
class _PortInForce:
    """A port of the docker host that is in force, and the network that it leads to."""

    member: Member
    port: PublishedPort
    network: Network


def connect(deployment: Deployment, vantage: Vantage, target: Target, port: int) -> ConnectionResult:
    """Where a connection from `vantage` to `target`:`port` ends."""
    return connect_from(deployment, client_namespace(deployment, vantage), target, port)


def connect_from(deployment: Deployment, client: ClientNamespace, target: Target, port: int) -> ConnectionResult:
    """Where a connection from a namespace to `target`:`port` ends, behind the relays on its way."""
    landed = _connect_from(deployment, client, target, port)
    return _passed_on(deployment, landed.relay) if isinstance(landed, Relayed) else landed


def _connect_from(deployment: Deployment, client: ClientNamespace, target: Target, port: int) -> SocketResult:
    match target:
        case Loopback():
            return _to_loopback(deployment, client, target.family, port)
        case MemberAddress():
            return _to_member(deployment, client, target, port)
        case HostAddress():
            return _to_docker_host(deployment, client, target, port)
        case NodeAddress():
            return _to_other_node(deployment, client, target, port)
        case VacantAddress():
            return _to_vacant_address(deployment, client, target)
        case OutsideAddress():
            return _to_outside_address(deployment, client, target)
        case _:
            assert_never(target)


def _passed_on(deployment: Deployment, relay: Relay, passed: tuple[Relay, ...] = ()) -> ConnectionResult:
    """Where a relay leads; a target that cannot be reached is a connection that is accepted and ended."""
    if relay in passed or len(passed) == _MOST_RELAYS:
        return Unknown(because=f"{relay} leads back to itself, or through too many relays")
    vantage = _where_relay_connects(deployment, relay)
    if not isinstance(vantage, Vantage):
        return vantage
    results = [_at_relay_target(deployment, relay, vantage, one.address, (*passed, relay)) for one in relay.targets]
    accepted = [one for one in results if isinstance(one, Accepted)]
    if len(accepted) == len(results) and len({one.entry.endpoint.listener for one in accepted}) == 1:
        return replace(accepted[0], relays=(relay, *accepted[0].relays))
    if len(results) > 1:
        return Unknown(because=f"{relay} has {len(results)} targets that do not lead to one listener")
    return _behind_relay(relay, results[0])


def _where_relay_connects(deployment: Deployment, relay: Relay) -> Vantage | Failed | Unknown:
    """From where a relay connects to its target."""
    member = deployment.by_name.get(relay.member) if relay.member else None
    own = container_vantage(member) if member else Vantage(kind=VantageKind.DOCKER_HOST, label="docker host")
    if not relay.through:
        return own
    named = deployment.by_name.get(relay.through)
    if named is None:
        resolution = resolve(deployment, own, relay.through)
        if isinstance(resolution, Failed):
            because = f"{relay} cannot connect to {relay.through}: {resolution.because}"
            return refused(resolution.mechanism or Mechanism.NO_SUCH_NAME, because)
        first = resolution[0] if isinstance(resolution, tuple) else None
        named = deployment.by_name.get(first.member) if isinstance(first, MemberAddress) else None
    if named is None:
        return Unknown(because=f"netdiag does not know what {relay.through} reaches, through which {relay} leads")
    return container_vantage(named)


def _at_relay_target(
    deployment: Deployment, relay: Relay, vantage: Vantage, address: Address, passed: tuple[Relay, ...]
) -> ConnectionResult:
    resolution = resolve(deployment, vantage, address.host)
    if isinstance(resolution, Failed) and relay.program in _RESOLVE_AT_START:
        return Unknown(because=f"{relay.program} does not start without an address: {resolution.because}")
    if not isinstance(resolution, tuple):
        return resolution
    client = client_namespace(deployment, vantage)
    found: ConnectionResult = Unknown(because=f"netdiag does not know where {address.host} is")
    for target in resolution:
        landed = _connect_from(deployment, client, target, address.port)
        found = _passed_on(deployment, landed.relay, passed) if isinstance(landed, Relayed) else landed
        if not isinstance(found, Failed):
            break
    return found


def _behind_relay(relay: Relay, result: ConnectionResult) -> ConnectionResult:
    """What a client of a relay gets that fails at its target: the connection itself is accepted."""
    if not isinstance(result, Failed):
        return result
    silent = result.reason is Reason.TIMEOUT
    then = "then nothing comes from" if silent else "then closes the connection, because it cannot reach"
    because = f"{relay} accepts, {then} {relay.targets[0].address}: {result.because}"
    reason = Reason.TIMEOUT if silent else Reason.CLOSED
    return Failed(reason=reason, because=because, mechanism=result.mechanism)


def _to_loopback(deployment: Deployment, client: ClientNamespace, family: Family, port: int) -> SocketResult:
    if client.ground in (NamespaceKind.DOCKER_HOST, NamespaceKind.USER_MACHINE):
        return _to_host_loopback(deployment, client, port, family)
    owner = client.owner
    if owner is None:
        who = "the LAN machine" if client.ground is NamespaceKind.LAN else "the client container"
        return refused(Mechanism.OWN_LOOPBACK, f"localhost is {who} itself")
    if client.ground is NamespaceKind.UNKNOWN:
        return Unknown(because="netdiag does not know whose network the client uses")
    if family is Family.IPV6 and not any(network.ipv6 for network in client.networks):
        match deployment.platform.generation:
            case Generation.V20:
                return Unknown(because="this container has no IPv6, not even ::1, so it was not tried")
            case None if not deployment.platform.is_podman:
                return Unknown(because="the engine decides whether a container without IPv6 networks has ::1")
    return accept_at_loopback(deployment, owner, port, family)


def _to_host_loopback(deployment: Deployment, client: ClientNamespace, port: int, family: Family) -> SocketResult:
    """Rows 20 and 22: from the docker host to its own loopback."""
    if deployment.platform.kind is HostKind.PODMAN_ROOTLESS:
        return ROOTLESS_UNKNOWN
    if deployment.platform.kind is HostKind.SWARM:
        return _at_node(deployment, port)
    unsure = _undecided_port(deployment, client, port)
    if unsure is not None:
        return unsure
    machine = deployment.platform.virtual_machine
    if client.ground is NamespaceKind.DOCKER_HOST or (machine and machine.forwards_host_mode):
        own = accept_in_host_mode(deployment, port, address=None, family=family)
        if own is not None:
            return own
    found = _ports_in_force(deployment, port)
    fitting = [publish for publish in found if _on_loopback(publish.port, family)]
    if not fitting:
        if any(publish.port.on_loopback for publish in found):
            return refused(Mechanism.NO_IPV6_BINDING, f"port {port} is published only for the other IP version")
        return _not_published(deployment, found, port, at=None if family is Family.IPV6 else "")
    proxy = deployment.platform.has_proxy
    if client.ground is NamespaceKind.USER_MACHINE:
        return _forwarded_by_machine(deployment, fitting, port)
    if family is Family.IPV6 and is_rootful(deployment.platform):
        if any(publish.network.ipv6 for publish in fitting):
            return Unknown(because="netdiag does not model IPv6 of Podman")
        return refused(Mechanism.NO_IPV6_BINDING, "Podman publishes on ::1 only for a network with IPv6")
    if family is Family.IPV6 and not proxy:
        return refused(Mechanism.NO_IPV6_BINDING, "without the userland proxy nothing is published on ::1")
    landed = _to_publisher(deployment, fitting)
    return _behind_proxy(landed) if proxy else landed


def _undecided_port(deployment: Deployment, client: ClientNamespace, port: int) -> Unknown | None:
    """What keeps any answer about a port of the docker host from being sure."""
    platform = deployment.platform
    if platform.generation is Generation.V20:
        for member, _ in deployment.publishers_by_port.get(port, ()):
            network = publishing_network(deployment, member) if deployment.is_running(member) else None
            if network is not None and has_unsupported_gateway_mode(platform, network):
                return Unknown(because=_UNSUPPORTED_MODE.format(network=network.name))
    machine = platform.virtual_machine
    if machine is None or client.ground not in (NamespaceKind.USER_MACHINE, NamespaceKind.LAN):
        return None
    if client.ground is NamespaceKind.USER_MACHINE and machine.forwards_host_mode:
        return None
    if any(deployment.listeners_by_port.get((owner.name, port)) for owner in deployment.host_mode_members):
        unless = ", unless host networking is enabled" if platform.kind is HostKind.DESKTOP else ""
        return Unknown(because=f"with {machine.product}, host mode means its VM{unless}")
    return None


def _ports_in_force(deployment: Deployment, port: int) -> list[_PortInForce]:
    return [
        _PortInForce(member=member, port=published, network=network)
        for member, published in deployment.publishers_by_port.get(port, ())
        if deployment.is_running(member) and (network := _publishes_through(deployment, member)) is not None
    ]


def _publishes_through(deployment: Deployment, member: Member) -> Network | None:
    if member.mode not in (NetworkMode.NETWORKS, NetworkMode.DEFAULT_BRIDGE):
        return None
    network = publishing_network(deployment, member)
    if network is None or uses_parent_device(network) or network.gateway_mode == "routed":
        return None
    return network


def _on_loopback(port: PublishedPort, family: Family) -> bool:
    match family:
        case Family.ANY:
            return port.on_loopback or port.host_ip in ("::", "::1")
        case Family.IPV4:
            return port.on_loopback and port.host_ip != "::1"
        case Family.IPV6:
            return port.host_ip in ("", "::", "::1")


def _not_published(
    deployment: Deployment, found: list[_PortInForce], port: int, *, at: str | None = None
) -> SocketResult:
    """Why nothing takes a port of the docker host, `at` an address of it, "" for its loopback of IPv4."""
    if found:
        where = found[0].port.host_ip
        return refused(Mechanism.PUBLISHED_ON_OTHER_ADDRESS, f"port {port} is published only on {where}")
    asking = deployment.publishers_by_port.get(port, ())
    ingress = deployment.platform.ingress_ports
    if not asking and ingress is None:
        return Unknown(because=f"the swarm may offer port {port} on every node, and only its managers tell")
    if not asking and ingress is not None and port in ingress:
        return Unknown(because=f"the swarm offers port {port} in ingress mode, and passes it on to any task")
    if not asking:
        return refused(Mechanism.NOT_PUBLISHED, f"no container publishes port {port} of the docker host")
    member = asking[0][0]
    mechanism, because = _why_not_in_force(deployment, member)
    if is_rootful(deployment.platform) and at is not None and mechanism in _HELD:
        held = held_port(asking[0][1], at or None, f"{member.name} {because}", mechanism)
        if held is not None:
            return held
    if mechanism is Mechanism.NOT_RUNNING:
        name = member.container or member.name
        return refused(mechanism, published_by_stopped(name, port, member.exit_code), name)
    return refused(mechanism, f"{member.name} {because}")


def _why_not_in_force(deployment: Deployment, member: Member) -> tuple[Mechanism, str]:
    """Why what a member asks for is not in force."""
    if member.mode is NetworkMode.HOST:
        return Mechanism.PUBLISHED_IN_HOST_MODE, "is in host network mode, which discards published ports"
    network = publishing_network(deployment, member) if member.attachments else None
    if member.attachments and network is None:
        return Mechanism.PUBLISHED_BY_INTERNAL, "is only on internal networks, which publish no ports"
    if network is not None and network.gateway_mode == "routed":
        return (
            Mechanism.NOT_PUBLISHED_ROUTED,
            f"is on {network.name}, whose gateway mode routed publishes no port of the docker host",
        )
    if network is not None and uses_parent_device(network):
        return Mechanism.NOT_PUBLISHED, f"is on {network.name}, which is separate from the docker host's own address"
    if member.mode is NetworkMode.NETWORKS and not member.attachments:
        return Mechanism.PUBLISHED_BY_DISCONNECTED, "is no longer on a network, so its published ports are not in force"
    return Mechanism.NOT_RUNNING, ""


def _forwarded_by_machine(deployment: Deployment, found: list[_PortInForce], port: int) -> SocketResult:
    if not found:
        return _not_published(deployment, _ports_in_force(deployment, port), port)
    landed, machine = _to_publisher(deployment, found), deployment.platform.virtual_machine
    if isinstance(landed, Failed) and machine is not None and not machine.accepts_first:
        return Unknown(because=f"it is not documented what {machine.product} does if {landed.because}")
    return _behind_proxy(landed)


def _behind_proxy(landed: SocketResult) -> SocketResult:
    """docker-proxy accepts before it finds nobody behind."""
    if not isinstance(landed, Failed) or landed.reason is not Reason.REFUSED:
        return landed
    because = f"{landed.because}: docker-proxy accepts, then closes the connection"
    return Failed(reason=Reason.CLOSED, because=because, mechanism=landed.mechanism)


def _to_publisher(deployment: Deployment, found: list[_PortInForce]) -> SocketResult:
    """At the container that publishes; which one cannot be told where several do."""
    members = dict.fromkeys(publish.member.name for publish in found)
    if len(members) > 1:
        return Unknown(because=f"{' and '.join(members)} both publish the port")
    publish = found[0]
    if not is_bridge(publish.network):
        return Unknown(because=f"netdiag does not model networks of driver {publish.network.driver}")
    if is_rootful(deployment.platform):
        unsure = _differs_by_network(deployment, publish)
        if unsure is not None:
            return unsure
    landed = accept_at_address(deployment, publish.member, publish.network.key, publish.port.target)
    if isinstance(landed, Failed) and landed.mechanism is Mechanism.NOBODY_LISTENS:
        return replace(landed, mechanism=Mechanism.PUBLISHED_TO_DEAD_PORT)
    return landed


def _differs_by_network(deployment: Deployment, publish: _PortInForce) -> Unknown | None:
    """Podman sets the networks of a container up in no order, and the rule of the first one counts."""
    target = publish.port.target
    ways = _ways_in_with_podman(deployment, publish.member)
    kinds = {type(accept_at_address(deployment, publish.member, way.key, target)) for way in ways}
    if len(kinds) < 2:
        return None
    return Unknown(
        because=f"Podman leads port {publish.port.published} to any of the networks of {publish.member.name}"
    )


def _ways_in_with_podman(deployment: Deployment, member: Member) -> tuple[Network, ...]:
    """The networks to which a published port of a container may lead."""
    networks = (network_of(deployment, a.network) for a in member.attachments)
    return tuple(n for n in networks if not n.internal and not uses_parent_device(n))


def _to_member(deployment: Deployment, client: ClientNamespace, target: MemberAddress, port: int) -> SocketResult:
    member = deployment.by_name[target.member]
    blocked = _obstacle_to_member(deployment, client, target, port)
    if blocked is not None:
        return blocked
    if not deployment.is_running(member):
        return timed_out(Mechanism.NOT_RUNNING, f"{member.name} is not running", member.container or member.name)
    return accept_at_address(deployment, member, target.network, port, six=target.six)


def _obstacle_to_member(
    deployment: Deployment, client: ClientNamespace, target: MemberAddress, port: int
) -> Obstacle | None:
    """Between a client and a member's address on a network."""
    member, network = deployment.by_name[target.member], network_of(deployment, target.network)
    if client.owner is not None and client.owner.name == member.name:
        return None
    if is_bridge(network) and has_unsupported_gateway_mode(deployment.platform, network) and not client.on(network):
        return Unknown(because=_UNSUPPORTED_MODE.format(network=network.name))
    found = _obstacle(deployment.platform, client, network, _has_published(member, port))
    if found is None and target.six and not client.on(network):
        return Unknown(because="netdiag does not model IPv6 between networks")
    return found


def _obstacle(platform: Platform, client: ClientNamespace, network: Network, published: bool) -> Obstacle | None:
    match client.ground:
        case NamespaceKind.LAN:
            return _obstacle_from_lan(platform, network, published)
        case NamespaceKind.USER_MACHINE:
            return _obstacle_from_user_machine(platform, network)
        case NamespaceKind.UNKNOWN:
            return Unknown(because="netdiag does not know whose network the client uses")
        case NamespaceKind.NOWHERE:
            return _no_network(client)
        case NamespaceKind.DOCKER_HOST:
            return _obstacle_from_host(platform, network)
        case NamespaceKind.CONTAINER:
            return _obstacle_from_container(platform, client, network, published)


def _obstacle_from_user_machine(platform: Platform, network: Network) -> Obstacle | None:
    machine = platform.virtual_machine
    assert machine is not None
    if machine.routes_to_containers is False:
        because = f"container addresses exist only inside {machine.product}'s VM"
        return timed_out(Mechanism.DESKTOP_NO_ROUTE, because)
    if machine.routes_to_containers is None or not is_bridge(network) or network.internal:
        return Unknown(
            because=f"the documentation of {machine.product} does not say whether it routes to {network.name}"
        )
    return None


def _obstacle_from_lan(platform: Platform, network: Network, published: bool) -> Obstacle | None:
    if uses_parent_device(network):
        if has_real_parent(network) and "." not in network.parent:
            return None
        return Unknown(because=f"netdiag does not know whether the LAN is on the link of {network.name}")
    if not is_bridge(network):
        return _other_driver(network)
    if platform.lan_routes is None:
        return Unknown(because=_LAN_ROUTES_UNKNOWN)
    if not platform.lan_routes:
        # Row 27.
        return unreachable(Mechanism.NO_ROUTE, "the LAN has no route to container addresses")
    return _direct_access(platform, network, published)


def _other_driver(network: Network) -> Unknown:
    return Unknown(because=f"netdiag does not model networks of driver {network.driver}")


def _direct_access(platform: Platform, network: Network, published: bool) -> Obstacle | None:
    """Rows 25, 26, 38, 39: by a route to a container's address from outside the docker host."""
    if network.internal:
        return timed_out(Mechanism.DIRECT_ACCESS_DROPPED, f"{network.name} is internal")
    if platform.is_podman:
        if platform.forward_drops is None:
            return Unknown(because="Podman leaves this to the FORWARD policy of the docker host")
        dropped = timed_out(Mechanism.FORWARD_POLICY, "the docker host forwards only to published ports")
        return dropped if platform.forward_drops else None
    if network.gateway_mode == "routed":
        return None if published else timed_out(Mechanism.DIRECT_ACCESS_DROPPED, "the port is not published")
    if network.gateway_mode == "nat-unprotected":
        return None
    match platform.generation:
        case Generation.V28 | Generation.V29:
            because = "the engine drops packets to a container's address from outside its bridge"
            return timed_out(Mechanism.DIRECT_ACCESS_DROPPED, because)
        case Generation.V20 if published:
            return None
        case None if published:
            return Unknown(because="engine 28 no longer allows direct access to a published container port")
    if platform.forward_drops is False:
        if platform.generation is Generation.V20:
            return None
        return Unknown(because="the engine version decides what is left to the FORWARD policy")
    return timed_out(Mechanism.FORWARD_POLICY, "the docker host forwards only to published ports")


def _no_network(client: ClientNamespace) -> Failed:
    if client.owner is not None and client.owner.mode.value == "none":
        return unreachable(Mechanism.NO_NETWORK, "the client has network_mode none and only loopback")
    return unreachable(Mechanism.NO_ROUTE, "the client is not on any network")


def _obstacle_from_host(platform: Platform, network: Network) -> Obstacle | None:
    """Row 19: what the docker host sends is not filtered."""
    if uses_parent_device(network):
        return _parent_isolation(network, f"the docker host and containers on {network.name} cannot reach one another")
    if not is_bridge(network):
        return _other_driver(network)
    if network.gateway_mode == "isolated":
        return unreachable(Mechanism.NO_ROUTE, f"the docker host has no address on {network.name}")
    if platform.kind is HostKind.PODMAN_ROOTLESS:
        return ROOTLESS_UNKNOWN
    return None


def _parent_isolation(network: Network, because: str) -> Obstacle:
    if not has_real_parent(network):
        return Unknown(because=f"{network.name} is on a device of its own, and netdiag does not know the routes to it")
    return unreachable(Mechanism.PARENT_ISOLATION, because)


def _obstacle_from_container(
    platform: Platform, client: ClientNamespace, network: Network, published: bool
) -> Obstacle | None:
    if client.on(network):
        return _on_one_network(platform, network)
    blocked = _missing_route(platform, client)
    if blocked is not None:
        return blocked
    egress = client.egress
    assert egress is not None
    if uses_parent_device(egress):
        return Unknown(because=f"netdiag does not know the routes beyond {egress.name}")
    if uses_parent_device(network):
        # Row 35: the docker host would have to deliver it, and cannot.
        return _parent_isolation(network, f"the docker host cannot reach containers on {network.name}")
    if not (is_bridge(egress) and is_bridge(network)):
        return _other_driver(network if is_bridge(egress) else egress)
    if platform.is_podman:
        return _between_networks_of_podman(platform, client, network)
    return _between_bridges(platform, network, published)


def _between_networks_of_podman(platform: Platform, client: ClientNamespace, network: Network) -> Obstacle | None:
    if not is_rootful(platform):
        return ROOTLESS_UNKNOWN
    # Of several default routes, any counts.
    return between_networks(platform, tuple(n for n in client.networks if not n.internal), network)


def _on_one_network(platform: Platform, network: Network) -> Obstacle | None:
    if network.spans_nodes:
        return None
    if not (is_bridge(network) or uses_parent_device(network)):
        return _other_driver(network)
    if network.icc or platform.bridge_filter is False or platform.is_podman:
        # Row 7: without br_netfilter nobody enforces icc=false, and Podman never does.
        return None
    return timed_out(Mechanism.ICC_OFF, f"{network.name} does not let its containers reach one another")


def _missing_route(platform: Platform, client: ClientNamespace) -> Obstacle | None:
    """Whether a container without a network of the target has a route at all (rows 29, 36, 37)."""
    if client.ground is NamespaceKind.NOWHERE:
        return _no_network(client)
    if client.egress is not None:
        return None
    if platform.is_podman:
        because = f"{_network_names(client)} is internal, and its containers have no default route"
        return unreachable(Mechanism.INTERNAL_EGRESS, because)
    match platform.generation:
        case Generation.V28 | Generation.V29:
            return _no_egress(client)
        case Generation.V20:
            return _egress_dropped(client)
        case None:
            return Unknown(
                because="the engine decides what an internal network reaches: up to 27 it drops packets, from 28 on "
                "there is no route"
            )


def _no_egress(client: ClientNamespace) -> Failed:
    because = f"{_network_names(client)} is internal, and since engine 28 its containers have no default route"
    return unreachable(Mechanism.INTERNAL_EGRESS, because)


def _network_names(client: ClientNamespace) -> str:
    return " and ".join(network.name for network in client.networks)


def _egress_dropped(client: ClientNamespace) -> Failed:
    return timed_out(
        Mechanism.INTERNAL_EGRESS, f"{_network_names(client)} is internal, and the engine drops packets that leave it"
    )


def _between_bridges(platform: Platform, network: Network, published: bool) -> Obstacle | None:
    """Rows 8, 38 and 39."""
    isolated = timed_out(Mechanism.NETWORK_ISOLATION, "Docker drops traffic between networks")
    match network.gateway_mode:
        case "isolated":
            return Unknown(because=f"the docker host has no address on {network.name}, which netdiag does not model")
        case "routed":
            return None if published else isolated
        case "nat-unprotected" if platform.generation is Generation.V29:
            return None
        case "nat-unprotected" if platform.generation is None:
            return Unknown(because="the engine decides what other networks reach with gateway mode nat-unprotected")
        case _:
            return isolated


def _has_published(member: Member, port: int) -> bool:
    return any(p.target == port and p.protocol == "tcp" for p in member.published)


def _to_docker_host(deployment: Deployment, client: ClientNamespace, target: HostAddress, port: int) -> SocketResult:
    """To an address of the docker host that is not loopback."""
    if deployment.platform.kind is HostKind.SWARM:
        if client.ground in (NamespaceKind.DOCKER_HOST, NamespaceKind.LAN):
            return _at_node(deployment, port)
        return Unknown(because="it is not documented which ports of a node a container in a swarm reaches")
    unsure = _undecided_port(deployment, client, port)
    if unsure is not None:
        return unsure
    if deployment.platform.kind is HostKind.PODMAN_ROOTLESS:
        return ROOTLESS_UNKNOWN
    machine = deployment.platform.virtual_machine
    if machine is not None and client.ground is not NamespaceKind.DOCKER_HOST:
        return _to_user_machine(deployment, machine, client, target, port)
    match client.ground:
        case NamespaceKind.DOCKER_HOST | NamespaceKind.USER_MACHINE:
            return _from_outside(deployment, client, target, port)
        case NamespaceKind.LAN:
            return _from_lan(deployment, client, target, port)
        case NamespaceKind.UNKNOWN:
            return Unknown(because="netdiag does not know whose network the client uses")
        case NamespaceKind.NOWHERE | NamespaceKind.CONTAINER:
            return _from_container(deployment, client, target, port)


def _at_node(deployment: Deployment, port: int) -> SocketResult:
    """At an address of a node of a swarm, whichever node that is."""
    found = [
        (member, published)
        for member, published in deployment.publishers_by_port.get(port, ())
        if deployment.is_running(member)
    ]
    networks = [network_of(deployment, a.network) for member in deployment.all_members for a in member.attachments]
    if not found:
        if any(network.driver == "host" for network in networks):
            return Unknown(because="a service uses the network of its node, and the swarm decides which node that is")
        return refused(Mechanism.NOT_PUBLISHED, f"no service publishes port {port} of the swarm's nodes")
    if len({member.name for member, _ in found}) > 1:
        return Unknown(because=f"{' and '.join(member.name for member, _ in found)} both publish the port")
    member, published = found[0]
    if published.mode == "host" and not member.on_every_node:
        because = f"only the nodes that run a task of {member.name} offer port {port}, which is published in host mode"
        return Unknown(because=because)
    landed = accept_at_address(deployment, member, "", published.target)
    if isinstance(landed, Failed):
        return Unknown(because=f"it is not documented what a node of a swarm answers if {landed.because}")
    return landed


def _to_other_node(deployment: Deployment, client: ClientNamespace, target: NodeAddress, port: int) -> SocketResult:
    """To another node of a swarm, which publishes ports for the tasks that run there."""
    blocked = (
        _missing_route(deployment.platform, client)
        if client.ground in (NamespaceKind.CONTAINER, NamespaceKind.NOWHERE)
        else None
    )
    if blocked is not None:
        return blocked
    if client.ground is NamespaceKind.CONTAINER and not (client.egress and is_bridge(client.egress)):
        return Unknown(because=f"netdiag does not know the routes of this container to {target.text}")
    found = [
        (member, published)
        for member in deployment.all_members
        if member.elsewhere is not None and member.elsewhere.address == target.text
        for published in member.elsewhere.published
        if published.published == port and published.protocol == "tcp"
    ]
    if len(found) != 1:
        return Unknown(because=f"netdiag does not know what listens on the other node {target.text}")
    member, published = found[0]
    landed = accept_at_address(deployment, member, "", published.target)
    return Unknown(because=f"on another node: {landed.because}") if isinstance(landed, Failed) else landed


def _to_user_machine(
    deployment: Deployment, machine: VirtualMachine, client: ClientNamespace, target: HostAddress, port: int
) -> SocketResult:
    """To the machine in front of the virtual machine, which offers what is published and forwards it."""
    blocked = (
        _missing_route(deployment.platform, client)
        if client.ground in (NamespaceKind.CONTAINER, NamespaceKind.NOWHERE)
        else None
    )
    if blocked is not None:
        return blocked
    outside = client.ground in (NamespaceKind.USER_MACHINE, NamespaceKind.LAN)
    if target.gateway and not target.user_machine:
        if outside and machine.routes_to_containers is False:
            because = f"network gateways exist only inside {machine.product}'s VM"
            return timed_out(Mechanism.DESKTOP_NO_ROUTE, because)
        return Unknown(because=f"the gateway is {machine.product}'s VM, whose services netdiag does not model")
    loopback_too = target.user_machine and machine.aliases_reach_loopback is True
    found = _ports_at_address(deployment, target, port, loopback_too=loopback_too)
    if isinstance(found, Unknown):
        return found
    if client.ground is NamespaceKind.LAN and not machine.offers_to_lan:
        return Unknown(because=f"the settings of {machine.product} decide what it offers to the LAN")
    if outside:
        return _forwarded_by_machine(deployment, found, port)
    landed = _to_publisher(deployment, found) if found else None
    if isinstance(landed, Accepted | Relayed):
        return landed
    return Unknown(because=f"netdiag does not know what else listens on the machine that runs {machine.product}")


def _ports_at_address(
    deployment: Deployment, target: HostAddress, port: int, *, loopback_too: bool = False
) -> list[_PortInForce] | Unknown:
    """The published ports in force at an address of the docker host."""
    found = _ports_in_force(deployment, port)
    offered = [p for p in found if p.port.on_all_addresses or (loopback_too and p.port.on_loopback)]
    wanted = (target.text, "::") if ":" in target.text else (target.text,)
    offered += [p for p in found if p not in offered and p.port.host_ip in wanted]
    if not offered and any(_may_be_address(deployment, publish.port.host_ip, target) for publish in found):
        return Unknown(because="the port is published on another address of the docker host")
    return offered


def _may_be_address(deployment: Deployment, host_ip: str, target: HostAddress) -> bool:
    """Whether the address that a port is published on may be this one under another name."""
    if host_ip.startswith("127.") or host_ip == "::1":
        return False
    try:
        ip_address(target.text)
    except ValueError:
        return not (target.gateway and host_ip in deployment.host_addresses)
    return False


def _from_outside(deployment: Deployment, client: ClientNamespace, target: HostAddress, port: int) -> SocketResult:
    """Rows 21, 23, 24: DNAT, whether the proxy runs or not; what the docker host sends itself is not filtered."""
    found = _ports_at_address(deployment, target, port)
    if isinstance(found, Unknown):
        return found
    if found:
        return _to_publisher(deployment, found)
    return _host_service(deployment, client, target, port)


def _host_service(deployment: Deployment, client: ClientNamespace, target: HostAddress, port: int) -> SocketResult:
    """Row 34: what listens in the docker host's own namespace, behind its INPUT chain."""
    own = accept_in_host_mode(deployment, port, address=target.text)
    served = own or _not_published(deployment, _ports_in_force(deployment, port), port, at=target.text)
    return served if client.ground is NamespaceKind.DOCKER_HOST else _past_host_firewall(deployment.platform, served)


def _past_host_firewall(platform: Platform, delivery: SocketResult) -> SocketResult:
    """Rows 40 and 41: past a firewall of the docker host's own, which what goes by DNAT never meets."""
    match platform.host_input:
        case HostInput.DROP:
            return timed_out(Mechanism.HOST_FIREWALL, "the docker host's firewall drops packets to the host")
        case HostInput.REJECT:
            return refused(Mechanism.REJECTED, "the docker host's firewall rejects packets to the host")
        case HostInput.PROHIBIT:
            because = "the docker host's firewall rejects packets as prohibited"
            return unreachable(Mechanism.REJECTED, because)
        case _:
            return delivery


def _from_lan(deployment: Deployment, client: ClientNamespace, target: HostAddress, port: int) -> SocketResult:
    """Rows 23, 24 and 27."""
    platform = deployment.platform
    match platform.kind:
        case HostKind.WSL2:
            return Unknown(because="WSL's networking mode and Windows decide what the LAN reaches in WSL")
        case HostKind.WSL2_NAT:
            return Unknown(because="the LAN reaches WSL in NAT mode only by a port proxy of Windows (netsh)")
        case HostKind.WSL2_MIRRORED:
            return Unknown(because="the Hyper-V firewall decides what the LAN reaches in WSL in mirrored mode")
    if target.gateway and not platform.lan_routes:
        if platform.lan_routes is None:
            return Unknown(because=_LAN_ROUTES_UNKNOWN)
        return unreachable(Mechanism.NO_ROUTE, "the LAN has no route to the addresses of bridge networks")
    return _from_outside(deployment, client, target, port)


def _from_container(deployment: Deployment, client: ClientNamespace, target: HostAddress, port: int) -> SocketResult:
    """Rows 10 to 16, 30 to 32, 34, 35 and 40."""
    way = _network_to_host(deployment, client, target)
    if isinstance(way, Failed | Unknown):
        return way
    found = _ports_at_address(deployment, target, port)
    if isinstance(found, Unknown):
        return found
    if not found:
        return _host_service(deployment, client, target, port)
    return _published_to_container(deployment, client, way, found)


def _network_to_host(
    deployment: Deployment, client: ClientNamespace, target: HostAddress
) -> Network | Failed | Unknown:
    """The network that a container's packets to the docker host leave by, or what keeps them."""
    own = next((n for n in client.networks if target.text in n.gateways or covers(n, target.text)), None)
    if own is not None and is_bridge(own):
        if has_unsupported_gateway_mode(deployment.platform, own):
            return Unknown(because=_UNSUPPORTED_MODE.format(network=own.name))
        if own.gateway_mode == "isolated":
            return unreachable(Mechanism.NOBODY_HAS_ADDRESS, f"the docker host has no address on {own.name}")
        return own
    if (
        client.egress is None
        and client.ground is NamespaceKind.CONTAINER
        and deployment.platform.generation is Generation.V20
    ):
        # Row 31: up to 27 the default route leads to the docker host, which takes what is addressed to itself.
        return client.networks[0]
    blocked = _missing_route(deployment.platform, client)
    if blocked is not None:
        return blocked
    egress = client.egress
    assert egress is not None
    if uses_parent_device(egress):
        if has_real_parent(egress) and (target.text == DOCKER_HOST or own is egress):
            # Row 35.
            because = f"containers on {egress.name} and the docker host cannot reach one another"
            return unreachable(Mechanism.PARENT_ISOLATION, because)
        return Unknown(because=f"netdiag does not know the routes beyond {egress.name}")
    if not is_bridge(egress):
        return Unknown(because=f"netdiag does not model networks of driver {egress.driver}")
    return egress


def _published_to_container(
    deployment: Deployment, client: ClientNamespace, way: Network, found: list[_PortInForce]
) -> SocketResult:
    platform, publish = deployment.platform, found[0]
    landed = _to_publisher(deployment, found)
    if isinstance(landed, Unknown):
        return landed
    if way.internal:
        return _out_of_internal(platform, way, landed)
    if way.gateway_mode == "routed":
        return Unknown(because=f"netdiag does not model published ports from {way.name}, which has gateway mode routed")
    same = way.key == publish.network.key
    if is_rootful(platform):
        return _published_by_podman(deployment, client, publish, landed)
    proxied = platform.has_proxy
    if same:
        if proxied:
            return _past_host_firewall(platform, _behind_proxy(landed))
        return _hairpin(platform, client, publish, landed)
    return _to_other_bridge(platform, landed, proxied=proxied)


def _published_by_podman(
    deployment: Deployment, client: ClientNamespace, publish: _PortInForce, landed: Accepted | Relayed | Failed
) -> SocketResult:
    """Rows p4 to p8: by DNAT, whoever asks; by which network it leaves and to which it is led, chance decides."""
    platform = deployment.platform
    if client.owner is not None and client.owner.name == publish.member.name:
        match platform.bridge_filter:
            case None:
                return Unknown(because="br_netfilter decides whether a container reaches its own published port")
            case True:
                because = "with br_netfilter, packets do not come back to the container that sent them"
                return timed_out(Mechanism.HAIRPIN_DROPPED, because)
            case False:
                return landed
    homes = {attachment.network for attachment in publish.member.attachments}
    inward = _ways_in_with_podman(deployment, publish.member) or (publish.network,)
    outward = [network for network in client.networks if not network.internal]
    if homes.isdisjoint(way.key for way in outward):
        outward, inward = _one_of_each_kind(outward), tuple(_one_of_each_kind(inward))
    # Of a shared network, two targets differ at once.
    outward.sort(key=lambda way: way.key not in homes)
    first = _by_dnat_of_podman(platform, outward[0], inward[0], homes, landed)
    for way in outward:
        for target in inward:
            if _by_dnat_of_podman(platform, way, target, homes, landed) != first:
                name = publish.member.name
                because = f"Podman decides by which network the client leaves, or to which of {name} it is led"
                return Unknown(because=because)
    return first


def _one_of_each_kind(networks: Iterable[Network]) -> list[Network]:
    """Networks that packets between them do not meet the same at."""
    return list({(network.kind, network.isolated, network.internal): network for network in networks}.values())


def _by_dnat_of_podman(
    platform: Platform, way: Network, target: Network, homes: Collection[str], landed: Accepted | Relayed | Failed
) -> SocketResult:
    """What a client that leaves by one network meets at a published port that leads to another, or the same.

    `homes` are the networks of the container that publishes it.
    """
    if way.key == target.key:
        return landed
    obstacle = between_networks(platform, (way,), target)
    if obstacle is None and way.key in homes:
        return Unknown(because=f"the answer comes by {way.name}, and not by {target.name} as the question does")
    return obstacle or landed


def _out_of_internal(platform: Platform, way: Network, landed: Accepted | Relayed | Failed) -> SocketResult:
    """Row 32: DNAT comes first, then the rule that keeps packets on the internal network."""
    dropped = timed_out(
        Mechanism.INTERNAL_EGRESS, f"{way.name} is internal, and the engine drops packets that leave it"
    )
    if (platform.generation is not Generation.V29 and platform.generation is not None) or platform.is_podman:
        return dropped
    match platform.firewall:
        case Firewall.IPTABLES:
            return dropped
        case Firewall.NFTABLES if platform.generation is Generation.V29:
            return landed
        case _:
            return Unknown(
                because="the engine and its firewall decide whether an internal network reaches published ports"
            )


def _hairpin(
    platform: Platform, client: ClientNamespace, publish: _PortInForce, landed: Accepted | Relayed | Failed
) -> SocketResult:
    """Rows 11, 12 and 13: without the proxy, back through the bridge that the packet came from."""
    if not publish.network.icc:
        because = (
            f"{publish.network.name} does not let its containers reach one another, not even through published ports"
        )
        return timed_out(Mechanism.HAIRPIN_DROPPED, because)
    itself = client.owner is not None and client.owner.name == publish.member.name
    if platform.bridge_filter is False and not itself:
        because = "without br_netfilter, responses do not return through the docker host"
        return timed_out(Mechanism.BRIDGE_FILTER_OFF, because)
    return landed


def _to_other_bridge(platform: Platform, landed: Accepted | Relayed | Failed, *, proxied: bool) -> SocketResult:
    """Row 14: a published port of a container on another bridge."""
    if platform.generation is Generation.V29:
        return landed
    if proxied:
        through = _past_host_firewall(platform, _behind_proxy(landed))
        if platform.generation is None and through != landed:
            return Unknown(because="the engine decides whether docker-proxy or a rule serves other networks")
        return through
    if platform.generation is None:
        return Unknown(because="without the userland proxy, this depends on the engine version")
    because = "without the userland proxy, the engine drops packets between bridges, also to published ports"
    return timed_out(Mechanism.HAIRPIN_DROPPED, because)


def _to_vacant_address(deployment: Deployment, client: ClientNamespace, target: VacantAddress) -> Obstacle:
    """Row 4: at an address of a known network that nobody has."""
    network = network_of(deployment, target.network)
    vacant = unreachable(Mechanism.NOBODY_HAS_ADDRESS, f"no device has the address {target.text}")
    if client.on(network):
        # Without an answer to the neighbour question nothing is sent that icc=false could drop.
        return vacant
    return _obstacle(deployment.platform, client, network, published=False) or vacant


def _to_outside_address(deployment: Deployment, client: ClientNamespace, target: OutsideAddress) -> Obstacle:
    """Rows 29 and 42: at an address that no network here explains."""
    unknown = Unknown(because=f"netdiag does not know who has the address {target.text}")
    if client.ground is NamespaceKind.NOWHERE:
        return _no_network(client)
    if client.ground is not NamespaceKind.CONTAINER:
        return unknown
    egress, platform = client.egress, deployment.platform
    if egress is not None:
        if is_bridge(egress) and platform.default_route is False:
            return unreachable(Mechanism.NO_ROUTE, f"the docker host has no route to {target.text}")
        return unknown
    if any(not network.subnets or covers(network, target.text) for network in client.networks):
        # It may be on one of the client's own networks.
        return unknown
    if platform.is_podman:
        return unreachable(Mechanism.INTERNAL_EGRESS, f"{_network_names(client)} is internal, and has no way out")
    match platform.generation:
        case Generation.V28 | Generation.V29:
            return _no_egress(client)
        case Generation.V20 if platform.default_route is not None:
            if platform.default_route:
                return _egress_dropped(client)
            return unreachable(Mechanism.NO_ROUTE, f"the docker host has no route to {target.text}")
        case _:
            return Unknown(because="the engine and its host's routes decide what an internal network reaches")
