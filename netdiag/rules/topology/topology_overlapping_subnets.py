"""The subnet of a container network overlaps another network.

Why: If a container network overlaps another one, or a network outside the docker host, packets for the common addresses
follow the more specific route, and the other side is unreachable.

Bad:
    places:
      host:
        links:
          eth0: {addresses: [192.168.0.10/16]}
          br-kafka: {kind: bridge, addresses: [192.168.32.1/20]}  # <- here
    networks:
      kafka: {bridge: br-kafka, subnet: 192.168.32.0/20}

Good:
    places:
      host:
        links:
          eth0: {addresses: [192.168.0.10/16]}
          br-kafka: {kind: bridge, addresses: [172.20.0.1/16]}
        routes: [{to: 0.0.0.0/1, dev: eth0, via: 192.168.0.1}]
    networks:
      kafka: {bridge: br-kafka, subnet: 172.20.0.0/16}
      lan: {driver: macvlan, subnet: 192.168.0.0/16}

Seen: since a container network was created, the docker host no longer reaches some machines of the local network

Sources: RFC 1812 section 5.2.4.3 (longest match); Docker documentation, default-address-pools.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Related, Severity, TopologyLocation
from netdiag.linux.rtnetlink import Route
from netdiag.rules.topology_findings import (
    MAIN_TABLE,
    Prefix,
    at_device,
    at_place,
    device_name,
    finding,
    host_of,
    overlap,
    parsed_prefix,
)
from netdiag.topology.graph import NetworkView, Topology
from netdiag.topology.inventory import LinkId, NamespaceFacts

ID = "topology-overlapping-subnets"
SEVERITY = Severity.WARNING

# A route for more than such a part of all addresses is a default route in pieces, as VPNs write it.
_PIECES = 4
# RTPROT_KERNEL: the route of an address.
_KERNEL = 2


def check(topology: Topology) -> Iterator[Finding]:
    """One finding for every pair of overlapping networks, and every host route into a network's subnet."""
    host = host_of(topology)
    if host is None:
        return
    # A macvlan or ipvlan network shares the addresses of the outside network by design.
    views = [view for view in topology.networks if view.bridge is not None and view.network.driver == "bridge"]
    for number, view in enumerate(views):
        for subnet in _subnets(view):
            yield from (_of_networks(topology, view, subnet, other) for other in views[:number] if _has(other, subnet))
            for route in host[1].routes:
                aim = _aim(route, subnet, view, views)
                if aim is not None:
                    yield _of_route(topology, host[1], view, subnet, route, aim)


def _has(view: NetworkView, subnet: Prefix) -> bool:
    return any(overlap(each, subnet) for each in _subnets(view))


def _subnets(view: NetworkView) -> list[Prefix]:
    return [prefix for prefix in map(parsed_prefix, view.network.subnets) if prefix is not None]


def _aim(route: Route, subnet: Prefix, view: NetworkView, views: list[NetworkView]) -> Prefix | None:
    """The prefix of a route into a subnet; None if it does not overlap or is the network bridge's own route."""
    prefix = parsed_prefix(route.destination)
    bridges = {each.bridge.ifindex for each in views if each.bridge is not None}
    if route.table != MAIN_TABLE or route.type != "unicast" or prefix is None or prefix.prefixlen < _PIECES:
        return None
    if not overlap(prefix, subnet) or not route.hops or any(hop.ifindex in bridges for hop in route.hops):
        return None
    return prefix


def _place(topology: Topology, view: NetworkView) -> TopologyLocation:
    if view.bridge is None:
        return TopologyLocation(place=topology.host, part=view.network.name)
    return at_device(topology, view.bridge)


def _of_networks(topology: Topology, view: NetworkView, subnet: Prefix, other: NetworkView) -> Finding:
    return finding(
        ID,
        SEVERITY,
        _place(topology, view),
        f'networks {other.network.name} and {view.network.name} overlap: both have addresses of "{subnet}"',
        why="packets for the common addresses go to the network with the more specific route",
        hint=f"recreate {view.network.name} with another subnet",
        related=[Related(location=_place(topology, other), message=f"network {other.network.name}")],
    )


def _of_route(
    topology: Topology, facts: NamespaceFacts, view: NetworkView, subnet: Prefix, route: Route, aim: Prefix
) -> Finding:
    hop = route.hops[0]
    device = "" if hop.ifindex is None else device_name(topology, LinkId(netns=facts.netns.inode, ifindex=hop.ifindex))
    # A wide route, to a gateway or into a tunnel, is often not meant for every address in it.
    wide = aim.prefixlen < subnet.prefixlen and route.protocol != _KERNEL
    lost = "some containers" if aim.prefixlen > subnet.prefixlen else f"the machines of {aim} in that subnet"
    through = f" through {device}" if device else ""
    return finding(
        ID,
        Severity.NOTE if wide else SEVERITY,
        _place(topology, view),
        f'network {view.network.name} ({subnet}) overlaps the host\'s route to "{aim}"{through}',
        why=f"the more specific route wins, so the docker host cannot reach {lost}",
        hint=f"recreate {view.network.name} with another subnet, or set default-address-pools of the engine",
        related=[Related(location=at_place(topology, facts.netns.inode, route.destination), message="the route")],
    )
