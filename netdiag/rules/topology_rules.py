"""The written-out list of the rules about topologies, which are run without loading any other rule."""

from typing import TYPE_CHECKING

from netdiag.rules.topology import (
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

if TYPE_CHECKING:
    from netdiag.rules.rule import TopologyRule

TOPOLOGY: "tuple[TopologyRule, ...]" = (
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
