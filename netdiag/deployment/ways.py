"""What stands in the way from a client to the address of a container: routes, isolation, gateway modes, wires.

Row numbers are those of docs/reachability.md. Every function gives None where nothing does.
"""

from netdiag.deployment.mechanism import Mechanism
from netdiag.deployment.member import Deployment, Member, Network
from netdiag.deployment.naming import MemberAddress, OutsideAddress, Unmodelled, VacantAddress, covers
from netdiag.deployment.observations import Failed
from netdiag.deployment.platform import Generation, Platform
from netdiag.deployment.sockets import timed_out, unreachable
from netdiag.deployment.standing import Ground, Standing, has_unsure_mode, has_wire, is_bridge, network_of, on_wire

Obstacle = Failed | Unmodelled

UNSURE_MODE = "the gateway mode of {network} means nothing before engine 27"
NO_ROUTES_KNOWN = "whether the LAN has a route to container addresses cannot be told"


def obstacle_to_member(deployment: Deployment, stand: Standing, target: MemberAddress, port: int) -> Obstacle | None:
    """Between a client and a member's address on a network."""
    member, network = deployment.by_name[target.member], network_of(deployment, target.network)
    if stand.owner is not None and stand.owner.name == member.name:
        return None
    if is_bridge(network) and has_unsure_mode(deployment.platform, network) and not stand.on(network):
        return Unmodelled(because=UNSURE_MODE.format(network=network.name))
    found = _obstacle(deployment.platform, stand, network, _has_published(member, port))
    if found is None and target.six and not stand.on(network):
        return Unmodelled(because="ways of IPv6 between networks are not modelled")
    return found


def end_at_vacant(deployment: Deployment, stand: Standing, target: VacantAddress) -> Obstacle:
    """Row 4: at an address of a known network that nobody has."""
    network = network_of(deployment, target.network)
    vacant = unreachable(Mechanism.NOBODY_HAS_ADDRESS, f"nobody has the address {target.text}")
    if stand.on(network):
        # Without an answer to the neighbour question nothing is sent that icc=false could drop.
        return vacant
    return _obstacle(deployment.platform, stand, network, published=False) or vacant


def end_outside(deployment: Deployment, stand: Standing, target: OutsideAddress) -> Obstacle:
    """Rows 29 and 42: at an address that no network here explains."""
    unknown = Unmodelled(because=f"whose address {target.text} is cannot be told from here")
    if stand.ground is Ground.NOWHERE:
        return _nowhere(stand)
    if stand.ground is not Ground.CONTAINER:
        return unknown
    egress, platform = stand.egress, deployment.platform
    if egress is not None:
        if is_bridge(egress) and platform.default_route is False:
            return unreachable(Mechanism.NO_ROUTE, f"the docker host has no route to {target.text}")
        return unknown
    if any(not network.subnets or covers(network, target.text) for network in stand.networks):
        # It may be on one of the client's own networks.
        return unknown
    match platform.generation:
        case Generation.V28 | Generation.V29:
            return _no_egress(stand)
        case Generation.V20 if platform.default_route is not None:
            if platform.default_route:
                return _egress_dropped(stand)
            return unreachable(Mechanism.NO_ROUTE, f"the docker host has no route to {target.text}")
        case _:
            return Unmodelled(because="ways out of an internal network depend on the engine and its host's routes")


def way_out(platform: Platform, stand: Standing) -> Obstacle | None:
    """Whether a container without a network of the target has a route at all (rows 29, 36, 37)."""
    if stand.ground is Ground.NOWHERE:
        return _nowhere(stand)
    if stand.egress is not None:
        return None
    match platform.generation:
        case Generation.V28 | Generation.V29:
            return _no_egress(stand)
        case Generation.V20:
            return _egress_dropped(stand)
        case None:
            return Unmodelled(
                because="ways out of an internal network depend on the engine: dropped up to 27, no route since 28"
            )


def _obstacle(platform: Platform, stand: Standing, network: Network, published: bool) -> Obstacle | None:
    match stand.ground:
        case Ground.LAN:
            return _from_lan(platform, network, published)
        case Ground.USER_MACHINE:
            because = "container addresses exist inside Docker Desktop's own machine only"
            return timed_out(Mechanism.DESKTOP_NO_ROUTE, because)
        case Ground.UNKNOWN:
            return Unmodelled(because="whose network the client uses cannot be told")
        case Ground.NOWHERE:
            return _nowhere(stand)
        case Ground.DOCKER_HOST:
            return _from_host(network)
        case Ground.CONTAINER:
            return _from_container(platform, stand, network, published)


def _from_host(network: Network) -> Obstacle | None:
    """Row 19: what the docker host sends is not filtered."""
    if on_wire(network):
        return _parent_isolation(network, f"the docker host and containers on {network.name} do not reach each other")
    if not is_bridge(network):
        return _other_driver(network)
    if network.gateway_mode == "isolated":
        return unreachable(Mechanism.NO_ROUTE, f"the docker host has no address on {network.name}")
    return None


def _from_lan(platform: Platform, network: Network, published: bool) -> Obstacle | None:
    if on_wire(network):
        if has_wire(network) and "." not in network.parent:
            return None
        return Unmodelled(because=f"whether the LAN is on the wire of {network.name} cannot be told")
    if not is_bridge(network):
        return _other_driver(network)
    if platform.lan_routes is None:
        return Unmodelled(because=NO_ROUTES_KNOWN)
    if not platform.lan_routes:
        # Row 27.
        return unreachable(Mechanism.NO_ROUTE, "the LAN has no route to container addresses")
    return _direct_access(platform, network, published)


def _direct_access(platform: Platform, network: Network, published: bool) -> Obstacle | None:
    """Rows 25, 26, 38, 39: by a route to a container's address from outside the docker host."""
    if network.internal:
        return timed_out(Mechanism.DIRECT_ACCESS_DROPPED, f"{network.name} is internal")
    if network.gateway_mode == "routed":
        return None if published else timed_out(Mechanism.DIRECT_ACCESS_DROPPED, "the port is not published")
    if network.gateway_mode == "nat-unprotected":
        return None
    match platform.generation:
        case Generation.V28 | Generation.V29:
            because = "the engine drops what comes to a container's address from outside its bridge"
            return timed_out(Mechanism.DIRECT_ACCESS_DROPPED, because)
        case Generation.V20 if published:
            return None
        case None if published:
            return Unmodelled(because="direct access to a published container port ends with engine 28")
    if platform.forward_drops is False:
        if platform.generation is Generation.V20:
            return None
        return Unmodelled(because="what the engine leaves to the FORWARD policy depends on its generation")
    return timed_out(Mechanism.FORWARD_POLICY, "the docker host forwards only to published ports")


def _from_container(platform: Platform, stand: Standing, network: Network, published: bool) -> Obstacle | None:
    if stand.on(network):
        return _on_one_network(platform, network)
    blocked = way_out(platform, stand)
    if blocked is not None:
        return blocked
    egress = stand.egress
    assert egress is not None
    if on_wire(egress):
        return Unmodelled(because=f"what routers beyond {egress.name} know cannot be told")
    if on_wire(network):
        # Row 35: the docker host would have to deliver it, and cannot.
        return _parent_isolation(network, f"the docker host has no way to containers on {network.name}")
    if not (is_bridge(egress) and is_bridge(network)):
        return _other_driver(network if is_bridge(egress) else egress)
    return _between_bridges(platform, network, published)


def _on_one_network(platform: Platform, network: Network) -> Obstacle | None:
    if not (is_bridge(network) or on_wire(network)):
        return _other_driver(network)
    if network.icc or platform.bridge_filter is False:
        # Row 7: without br_netfilter nobody enforces icc=false.
        return None
    return timed_out(Mechanism.ICC_OFF, f"{network.name} forbids its containers to reach each other")


def _between_bridges(platform: Platform, network: Network, published: bool) -> Obstacle | None:
    """Rows 8, 38 and 39."""
    isolated = timed_out(Mechanism.NETWORK_ISOLATION, "Docker drops traffic between networks")
    match network.gateway_mode:
        case "isolated":
            return Unmodelled(because=f"the docker host has no address on {network.name}: what it does is not modelled")
        case "routed":
            return None if published else isolated
        case "nat-unprotected" if platform.generation is Generation.V29:
            return None
        case "nat-unprotected" if platform.generation is None:
            return Unmodelled(because="from another network, gateway mode nat-unprotected depends on the engine")
        case _:
            return isolated


def _has_published(member: Member, port: int) -> bool:
    return any(p.target == port and p.protocol == "tcp" for p in member.published)


def _parent_isolation(network: Network, because: str) -> Obstacle:
    if not has_wire(network):
        return Unmodelled(because=f"{network.name} stands on a device of its own: routes to it cannot be told")
    return unreachable(Mechanism.PARENT_ISOLATION, because)


def _other_driver(network: Network) -> Unmodelled:
    return Unmodelled(because=f"networks of driver {network.driver} are not modelled")


def _nowhere(stand: Standing) -> Failed:
    if stand.owner is not None and stand.owner.mode.value == "none":
        return unreachable(Mechanism.NO_NETWORK, "the client has network_mode none: only loopback")
    return unreachable(Mechanism.NO_ROUTE, "the client is on no network")


def _no_egress(stand: Standing) -> Failed:
    because = f"{_names(stand)} is internal: since engine 28 its containers have no default route"
    return unreachable(Mechanism.INTERNAL_EGRESS, because)


def _egress_dropped(stand: Standing) -> Failed:
    return timed_out(Mechanism.INTERNAL_EGRESS, f"{_names(stand)} is internal: what leaves it is dropped")


def _names(stand: Standing) -> str:
    return " and ".join(network.name for network in stand.networks)
