"""What becomes of a connection to the docker host: published ports by DNAT or docker-proxy, and its own services.

Row numbers are those of docs/reachability.md. The engine rewrites (DNAT) what is addressed to the docker host, except
from loopback and, with the userland proxy, from bridges whose containers the proxy serves; there docker-proxy accepts
in the docker host's own namespace, before it knows whether anybody listens behind.
"""

from dataclasses import dataclass, replace
from ipaddress import ip_address

from netdiag.deployment.mechanism import Mechanism
from netdiag.deployment.member import Deployment, Member, Network, NetworkMode, PublishedPort
from netdiag.deployment.naming import Family, HostAddress, Unmodelled, covers, running
from netdiag.deployment.observations import Failed, Reason
from netdiag.deployment.platform import Firewall, Generation, HostInput, HostKind, Platform
from netdiag.deployment.sockets import Delivery, Landed, enter, in_host_mode, refused, timed_out, unreachable
from netdiag.deployment.standing import Ground, Standing, has_unsure_mode, has_wire, is_bridge, on_wire, outward
from netdiag.deployment.vantage import DOCKER_HOST
from netdiag.deployment.ways import NO_ROUTES_KNOWN, UNSURE_MODE, way_out


@dataclass(frozen=True, slots=True, kw_only=True)
class _Publish:
    """A port of the docker host that is in force, and the network that it leads to."""

    member: Member
    port: PublishedPort
    network: Network


def to_host_loopback(
    deployment: Deployment, stand: Standing, port: int, down: frozenset[str], family: Family
) -> Delivery:
    """Rows 20 and 22: from the docker host to its own loopback."""
    unsure = _unsure(deployment, stand, port, down)
    if unsure is not None:
        return unsure
    if stand.ground is Ground.DOCKER_HOST:
        own = in_host_mode(deployment, port, down, address=None, family=family)
        if own is not None:
            return own
    found = _in_force(deployment, port, down)
    fitting = [publish for publish in found if _on_loopback(publish.port, family)]
    if not fitting:
        if any(publish.port.on_loopback for publish in found):
            return refused(Mechanism.NO_IPV6_BINDING, f"port {port} is published on the other family of addresses only")
        return _not_offered(deployment, found, port)
    proxy = deployment.platform.userland_proxy is not False
    if stand.ground is Ground.USER_MACHINE:
        return _forwarded(deployment, fitting, port, down)
    if family is Family.IPV6 and not proxy:
        return refused(Mechanism.NO_IPV6_BINDING, "without the userland proxy nothing is published on ::1")
    landed = _through(deployment, fitting, down)
    return _behind_proxy(landed) if proxy else landed


def to_host(deployment: Deployment, stand: Standing, target: HostAddress, port: int, down: frozenset[str]) -> Delivery:
    """To an address of the docker host that is not loopback."""
    unsure = _unsure(deployment, stand, port, down)
    if unsure is not None:
        return unsure
    if deployment.platform.kind is HostKind.DESKTOP and stand.ground is not Ground.DOCKER_HOST:
        return _on_desktop(deployment, stand, target, port, down)
    match stand.ground:
        case Ground.DOCKER_HOST | Ground.USER_MACHINE:
            return _from_outside(deployment, stand, target, port, down)
        case Ground.LAN:
            return _from_lan(deployment, stand, target, port, down)
        case Ground.UNKNOWN:
            return Unmodelled(because="whose network the client uses cannot be told")
        case Ground.NOWHERE | Ground.CONTAINER:
            return _from_container(deployment, stand, target, port, down)


def _unsure(deployment: Deployment, stand: Standing, port: int, down: frozenset[str]) -> Unmodelled | None:
    """What keeps any answer about a port of the docker host from being sure."""
    platform = deployment.platform
    if platform.generation is Generation.V20:
        for member, _ in deployment.publishing.get(port, ()):
            network = outward(deployment, member) if running(member, down) else None
            if network is not None and has_unsure_mode(platform, network):
                return Unmodelled(because=UNSURE_MODE.format(network=network.name))
    outside = stand.ground in (Ground.USER_MACHINE, Ground.LAN) and platform.kind is HostKind.DESKTOP
    if outside and any(deployment.listening.get((owner.name, port)) for owner in deployment.in_host_mode):
        return Unmodelled(because="host mode is Docker Desktop's own machine, unless its host networking is enabled")
    return None


def _from_lan(
    deployment: Deployment, stand: Standing, target: HostAddress, port: int, down: frozenset[str]
) -> Delivery:
    """Rows 23, 24 and 27."""
    platform = deployment.platform
    if platform.kind is HostKind.WSL2:
        return Unmodelled(because="what the LAN reaches in WSL depends on its networking mode and on Windows")
    if target.gateway and not platform.lan_routes:
        if platform.lan_routes is None:
            return Unmodelled(because=NO_ROUTES_KNOWN)
        return unreachable(Mechanism.NO_ROUTE, "the LAN has no route to the addresses of bridges")
    return _from_outside(deployment, stand, target, port, down)


def _from_outside(
    deployment: Deployment, stand: Standing, target: HostAddress, port: int, down: frozenset[str]
) -> Delivery:
    """Rows 21, 23, 24: DNAT, whether the proxy runs or not; what the docker host sends itself is not filtered."""
    found = _offered(deployment, target, port, down)
    if isinstance(found, Unmodelled):
        return found
    if found:
        return _through(deployment, found, down)
    return _host_service(deployment, stand, target, port, down)


def _from_container(
    deployment: Deployment, stand: Standing, target: HostAddress, port: int, down: frozenset[str]
) -> Delivery:
    """Rows 10 to 16, 30 to 32, 34, 35 and 40."""
    way = _way_to_host(deployment, stand, target)
    if isinstance(way, Failed | Unmodelled):
        return way
    found = _offered(deployment, target, port, down)
    if isinstance(found, Unmodelled):
        return found
    if not found:
        return _host_service(deployment, stand, target, port, down)
    return _published_to_container(deployment, stand, way, found, down)


def _way_to_host(deployment: Deployment, stand: Standing, target: HostAddress) -> Network | Failed | Unmodelled:
    """The network that a container's packets to the docker host leave by, or what keeps them."""
    own = next((n for n in stand.networks if target.text in n.gateways or covers(n, target.text)), None)
    if own is not None and is_bridge(own):
        if has_unsure_mode(deployment.platform, own):
            return Unmodelled(because=UNSURE_MODE.format(network=own.name))
        if own.gateway_mode == "isolated":
            return unreachable(Mechanism.NOBODY_HAS_ADDRESS, f"the docker host has no address on {own.name}")
        return own
    if stand.egress is None and stand.ground is Ground.CONTAINER and deployment.platform.generation is Generation.V20:
        # Row 31: up to 27 the default route leads to the docker host, which takes what is addressed to itself.
        return stand.networks[0]
    blocked = way_out(deployment.platform, stand)
    if blocked is not None:
        return blocked
    egress = stand.egress
    assert egress is not None
    if on_wire(egress):
        if has_wire(egress) and (target.text == DOCKER_HOST or own is egress):
            # Row 35.
            because = f"containers on {egress.name} and the docker host do not reach each other"
            return unreachable(Mechanism.PARENT_ISOLATION, because)
        return Unmodelled(because=f"what routers beyond {egress.name} know cannot be told")
    if not is_bridge(egress):
        return Unmodelled(because=f"networks of driver {egress.driver} are not modelled")
    return egress


def _published_to_container(
    deployment: Deployment, stand: Standing, way: Network, found: list[_Publish], down: frozenset[str]
) -> Delivery:
    platform, publish = deployment.platform, found[0]
    landed = _through(deployment, found, down)
    if isinstance(landed, Unmodelled):
        return landed
    if way.internal:
        return _out_of_internal(platform, way, landed)
    if way.gateway_mode == "routed":
        return Unmodelled(because=f"published ports from {way.name}, of gateway mode routed, are not modelled")
    same = way.key == publish.network.key
    proxied = platform.userland_proxy is not False
    if same:
        if proxied:
            return _filtered(platform, _behind_proxy(landed))
        return _hairpin(platform, stand, publish, landed)
    return _across(platform, landed, proxied=proxied)


def _out_of_internal(platform: Platform, way: Network, landed: Landed | Failed) -> Delivery:
    """Row 32: DNAT comes first, then the rule that keeps packets on the internal network."""
    dropped = timed_out(Mechanism.INTERNAL_EGRESS, f"{way.name} is internal: what leaves it is dropped")
    if platform.generation is not Generation.V29 and platform.generation is not None:
        return dropped
    match platform.firewall:
        case Firewall.IPTABLES:
            return dropped
        case Firewall.NFTABLES if platform.generation is Generation.V29:
            return landed
        case _:
            return Unmodelled(because="published ports from an internal network depend on the engine and its firewall")


def _hairpin(platform: Platform, stand: Standing, publish: _Publish, landed: Landed | Failed) -> Delivery:
    """Rows 11, 12 and 13: without the proxy, back through the bridge that the packet came from."""
    if not publish.network.icc:
        because = f"{publish.network.name} forbids its containers to reach each other, through published ports too"
        return timed_out(Mechanism.HAIRPIN_DROPPED, because)
    itself = stand.owner is not None and stand.owner.name == publish.member.name
    if platform.bridge_filter is False and not itself:
        because = "without br_netfilter the answer does not come back through the docker host"
        return timed_out(Mechanism.BRIDGE_FILTER_OFF, because)
    return landed


def _across(platform: Platform, landed: Landed | Failed, *, proxied: bool) -> Delivery:
    """Row 14: a published port of a container on another bridge."""
    if platform.generation is Generation.V29:
        return landed
    if proxied:
        through = _filtered(platform, _behind_proxy(landed))
        if platform.generation is None and through != landed:
            return Unmodelled(because="whether docker-proxy or a rule serves other networks depends on the engine")
        return through
    if platform.generation is None:
        return Unmodelled(because="without userland proxy this depends on the engine's generation")
    because = "without the userland proxy the engine drops between bridges, published ports too"
    return timed_out(Mechanism.HAIRPIN_DROPPED, because)


def _host_service(
    deployment: Deployment, stand: Standing, target: HostAddress, port: int, down: frozenset[str]
) -> Delivery:
    """Row 34: what listens in the docker host's own namespace, behind its INPUT chain."""
    own = in_host_mode(deployment, port, down, address=target.text)
    served = own or _not_offered(deployment, _in_force(deployment, port, down), port)
    return served if stand.ground is Ground.DOCKER_HOST else _filtered(deployment.platform, served)


def _filtered(platform: Platform, delivery: Delivery) -> Delivery:
    """Rows 40 and 41: past a firewall of the docker host's own, which what goes by DNAT never meets."""
    match platform.host_input:
        case HostInput.DROP:
            return timed_out(Mechanism.HOST_FIREWALL, "the docker host's firewall drops what comes to itself")
        case HostInput.REJECT:
            return refused(Mechanism.REJECTED, "the docker host's firewall rejects what comes to itself")
        case HostInput.PROHIBIT:
            because = "the docker host's firewall answers that it is prohibited"
            return unreachable(Mechanism.REJECTED, because)
        case _:
            return delivery


def _on_desktop(
    deployment: Deployment, stand: Standing, target: HostAddress, port: int, down: frozenset[str]
) -> Delivery:
    """To the machine of a Docker Desktop user, which offers what is published and forwards it."""
    blocked = way_out(deployment.platform, stand) if stand.ground in (Ground.CONTAINER, Ground.NOWHERE) else None
    if blocked is not None:
        return blocked
    if target.gateway and not target.desktop:
        if stand.ground in (Ground.USER_MACHINE, Ground.LAN):
            because = "the gateways of networks exist inside Docker Desktop's own machine only"
            return timed_out(Mechanism.DESKTOP_NO_ROUTE, because)
        return Unmodelled(because="the gateway is Docker Desktop's own machine, whose services are not modelled")
    found = _offered(deployment, target, port, down, loopback_too=target.desktop)
    if isinstance(found, Unmodelled):
        return found
    if stand.ground in (Ground.USER_MACHINE, Ground.LAN):
        return _forwarded(deployment, found, port, down)
    landed = _through(deployment, found, down) if found else None
    if isinstance(landed, Landed):
        return landed
    return Unmodelled(because="what else listens on the machine that Docker Desktop runs on cannot be told")


def _forwarded(deployment: Deployment, found: list[_Publish], port: int, down: frozenset[str]) -> Delivery:
    if not found:
        return _not_offered(deployment, _in_force(deployment, port, down), port)
    return _behind_proxy(_through(deployment, found, down))


def _through(deployment: Deployment, found: list[_Publish], down: frozenset[str]) -> Delivery:
    """At the container that publishes; which one cannot be told where several do."""
    members = dict.fromkeys(publish.member.name for publish in found)
    if len(members) > 1:
        return Unmodelled(because=f"{' and '.join(members)} both publish the port")
    publish = found[0]
    if not is_bridge(publish.network):
        return Unmodelled(because=f"networks of driver {publish.network.driver} are not modelled")
    landed = enter(deployment, publish.member, publish.network.key, publish.port.target, down)
    if isinstance(landed, Failed) and landed.mechanism is Mechanism.NOBODY_LISTENS:
        return replace(landed, mechanism=Mechanism.PUBLISHED_TO_DEAD_PORT)
    return landed


def _behind_proxy(landed: Delivery) -> Delivery:
    """docker-proxy accepts before it finds nobody behind."""
    if not isinstance(landed, Failed) or landed.reason is not Reason.REFUSED:
        return landed
    because = f"{landed.because}: docker-proxy accepts, then ends"
    return Failed(reason=Reason.CLOSED, because=because, mechanism=landed.mechanism)


def _in_force(deployment: Deployment, port: int, down: frozenset[str]) -> list[_Publish]:
    return [
        _Publish(member=member, port=published, network=network)
        for member, published in deployment.publishing.get(port, ())
        if running(member, down) and (network := _publishes_through(deployment, member)) is not None
    ]


def _publishes_through(deployment: Deployment, member: Member) -> Network | None:
    if member.mode not in (NetworkMode.NETWORKS, NetworkMode.DEFAULT_BRIDGE):
        return None
    network = outward(deployment, member)
    if network is None or on_wire(network) or network.gateway_mode == "routed":
        return None
    return network


def _offered(
    deployment: Deployment, target: HostAddress, port: int, down: frozenset[str], *, loopback_too: bool = False
) -> list[_Publish] | Unmodelled:
    """The published ports in force at an address of the docker host."""
    found = _in_force(deployment, port, down)
    offered = [p for p in found if p.port.on_all_addresses or (loopback_too and p.port.on_loopback)]
    offered += [p for p in found if p not in offered and p.port.host_ip == target.text]
    if not offered and any(_may_be(deployment, publish.port.host_ip, target) for publish in found):
        return Unmodelled(because="the port is published on another address of the docker host")
    return offered


def _may_be(deployment: Deployment, host_ip: str, target: HostAddress) -> bool:
    """Whether the address that a port is published on may be this one under another name."""
    if host_ip.startswith("127.") or host_ip == "::1":
        return False
    try:
        ip_address(target.text)
    except ValueError:
        return not (target.gateway and host_ip in deployment.host_addresses)
    return False


def _on_loopback(port: PublishedPort, family: Family) -> bool:
    match family:
        case Family.ANY:
            return port.on_loopback or port.host_ip == "::1"
        case Family.IPV4:
            return port.on_loopback and port.host_ip != "::1"
        case Family.IPV6:
            return port.host_ip in ("", "::", "::1")


def _not_offered(deployment: Deployment, found: list[_Publish], port: int) -> Delivery:
    """Why nothing takes a port of the docker host."""
    if found:
        where = found[0].port.host_ip
        return refused(Mechanism.PUBLISHED_ON_OTHER_ADDRESS, f"port {port} is published on {where} only")
    asking = deployment.publishing.get(port, ())
    if not asking:
        return refused(Mechanism.NOT_PUBLISHED, f"nothing is published on port {port} of the docker host")
    member = asking[0][0]
    mechanism, because = _silent(deployment, member)
    return refused(mechanism, f"{member.name} {because.format(port=port)}")


def _silent(deployment: Deployment, member: Member) -> tuple[Mechanism, str]:
    """Why what a member asks for is not in force."""
    if member.mode is NetworkMode.HOST:
        return Mechanism.PUBLISHED_IN_HOST_MODE, "is in host mode, where what it publishes is discarded"
    network = outward(deployment, member) if member.attachments else None
    if member.attachments and network is None:
        return Mechanism.PUBLISHED_BY_INTERNAL, "is on internal networks only, through which nothing is published"
    if network is not None and network.gateway_mode == "routed":
        return Mechanism.NOT_PUBLISHED_ROUTED, f"is on {network.name}, whose gateway mode routed publishes nothing here"
    if network is not None and on_wire(network):
        return Mechanism.NOT_PUBLISHED, f"is on {network.name}, which is beside the docker host's own address"
    if member.mode is NetworkMode.NETWORKS and not member.attachments:
        return Mechanism.PUBLISHED_BY_DISCONNECTED, "is on no network any more: what it publishes is not in force"
    return Mechanism.NOT_RUNNING, "publishes port {port} but is not running"
