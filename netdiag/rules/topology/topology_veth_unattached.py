"""A container's veth peer is not attached to a bridge.

Why: The engine attaches the host's end of a container's veth pair to the bridge of its network. If that end was
detached or never attached, and no route uses it, the container has a device and an address but reaches nothing.

Bad:
    places:
      host:
        links:
          br-kafka: {kind: bridge, addresses: [172.20.0.1/16]}
          veth1: {peer: kafka eth0}  # <- here
      kafka:
        links: {eth0: {addresses: [172.20.0.2/16]}}
    networks:
      kafka: {bridge: br-kafka, subnet: 172.20.0.0/16}

Good:
    places:
      host:
        links:
          br-kafka: {kind: bridge, addresses: [172.20.0.1/16]}
          veth1: {master: br-kafka, peer: kafka eth0}
          veth2: {peer: routed eth0}
        routes: [{to: 10.9.0.2/32, dev: veth2}]
      kafka:
        links: {eth0: {addresses: [172.20.0.2/16]}}
      routed:
        links: {eth0: {addresses: [10.9.0.2/32]}}
    networks:
      kafka: {bridge: br-kafka, subnet: 172.20.0.0/16}

Seen: "No route to host" after three seconds, in both directions; `bridge link` does not list the device

Sources: veth(4), bridge(8).
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Related, Severity
from netdiag.linux.rtnetlink import Link, Route
from netdiag.rules.topology_findings import (
    addresses_at,
    at_device,
    device_of,
    finding,
    parsed_prefix,
    quoted,
    running_places,
)
from netdiag.topology.graph import NetworkView, Topology
from netdiag.topology.inventory import LinkId, NamespaceFacts
from netdiag.topology.segments import end_of, is_pair

ID = "topology-veth-unattached"
SEVERITY = Severity.ERROR


def check(topology: Topology) -> Iterator[Finding]:
    """One finding for every veth pair of a container whose other end neither a bridge nor a route uses."""
    containers = {place.netns for place, _, _ in running_places(topology)}
    for inode, facts in topology.inventory.namespaces.items():
        for link in facts.links:
            at = LinkId(netns=inode, ifindex=link.ifindex)
            other = end_of(topology.inventory, at)
            if not is_pair(link) or other is None or other.netns not in containers or inode in containers:
                continue
            if link.master is None and not _is_used(topology, facts, at, link):
                yield _finding(topology, at, other, link)


def _is_used(topology: Topology, facts: NamespaceFacts, at: LinkId, link: Link) -> bool:
    """Whether addresses, routes or devices above it use the veth pair."""
    return bool(
        _has_address(topology, at)
        or any(_leads_to(route, link.ifindex) for route in facts.routes)
        or any(other.link == link.ifindex and other.link_netnsid is None for other in facts.links if other != link)
    )


def _leads_to(route: Route, ifindex: int) -> bool:
    """Whether there is a configured route to the device; IPv6 adds link-local and multicast routes by itself."""
    prefix = parsed_prefix(route.destination)
    of_itself = prefix is None or prefix.is_link_local or prefix.is_multicast
    return not of_itself and any(hop.ifindex == ifindex for hop in route.hops)


def _has_address(topology: Topology, at: LinkId) -> bool:
    """Whether the device has a configured address; link-local addresses exist by default."""
    return any(each.scope == 0 for each in addresses_at(topology, at))


def _network(topology: Topology, inside: LinkId) -> NetworkView | None:
    return next((view for view in topology.networks for m in view.members if m.inside == inside), None)


def _finding(topology: Topology, at: LinkId, inside: LinkId, link: Link) -> Finding:
    view = _network(topology, inside)
    bridge = view.network.bridge_name if view is not None else ""
    network = f" of network {view.network.name}" if view is not None else ""
    return finding(
        ID,
        SEVERITY,
        at_device(topology, at),
        f"{device_of(topology, inside)} is connected to {device_of(topology, at)}, which is not attached to a bridge",
        why="the container has a device and an address, but reaches nothing",
        hint=f"run `ip link set dev {quoted(link.ifname)} master {quoted(bridge)}`"
        if bridge
        else "attach it to the bridge of its network",
        related=[Related(location=at_device(topology, inside), message=f"the container's end{network}")],
    )
