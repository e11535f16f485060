"""Rules about the network of a machine: namespaces, devices, addresses, NAT, published ports."""

from collections.abc import Callable, Iterable

from netdiag.findings import Finding, TopologyLocation, by_place
from netdiag.rules.rule import TopologyRule
from netdiag.rules.topology import (
    topology_ambiguous_name,
    topology_bridge_filter_off,
    topology_container_without_network,
    topology_dnat_stale,
    topology_duplicate_address,
    topology_duplicate_mac,
    topology_fdb_disagrees,
    topology_forwarding_off,
    topology_gateway_missing,
    topology_listener_loopback_only,
    topology_listener_not_bound,
    topology_mtu_shrinks,
    topology_nat_missing,
    topology_overlapping_subnets,
    topology_port_not_forwarding,
    topology_proxy_missing,
    topology_proxy_orphaned,
    topology_published_not_in_force,
    topology_published_port_taken,
    topology_published_unserved,
    topology_veth_peer_missing,
    topology_veth_unattached,
)
from netdiag.topology.graph import Topology

TOPOLOGY: tuple[TopologyRule, ...] = (
    topology_ambiguous_name,
    topology_bridge_filter_off,
    topology_container_without_network,
    topology_dnat_stale,
    topology_duplicate_address,
    topology_duplicate_mac,
    topology_fdb_disagrees,
    topology_forwarding_off,
    topology_gateway_missing,
    topology_listener_loopback_only,
    topology_listener_not_bound,
    topology_mtu_shrinks,
    topology_nat_missing,
    topology_overlapping_subnets,
    topology_port_not_forwarding,
    topology_proxy_missing,
    topology_proxy_orphaned,
    topology_published_not_in_force,
    topology_published_port_taken,
    topology_published_unserved,
    topology_veth_peer_missing,
    topology_veth_unattached,
)


def check_topology(topology: Topology, rules: Iterable[TopologyRule] = TOPOLOGY) -> tuple[Finding, ...]:
    """What is wrong with the network of a machine, worst first, then by place.

    Of a narrowed topology the whole is judged, and what concerns the part is told: whoever is left out is there.
    """
    found = (finding for rule in rules for finding in rule.check(topology.whole or topology))
    wanted = found if topology.whole is None else filter(_within(topology, topology.whole), found)
    return tuple(sorted(wanted, key=lambda finding: (-finding.severity.rank, *by_place(finding))))


def _within(part: Topology, whole: Topology) -> Callable[[Finding], bool]:
    """Whether a finding is about a place, a device, a container and a published port that is left."""
    devices = {
        place.name: {link.ifname for link in facts.links}
        for place in part.places
        if (facts := part.inventory.namespaces.get(place.netns)) is not None
    }
    dropped = {port.key for port in whole.published} - {port.key for port in part.published}
    gone = {c.name for c in whole.containers.values()} - {c.name for c in part.containers.values()}

    def about(finding: Finding) -> bool:
        at = finding.location
        if not isinstance(at, TopologyLocation) or at.place not in devices:
            return False
        return (
            (not at.device or at.device in devices[at.place]) and at.part not in dropped and finding.service not in gone
        )

    return about
