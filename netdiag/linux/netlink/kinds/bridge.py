"""Bridges and their ports (IFLA_BR_*, IFLA_BRPORT_*)."""

import struct

from netdiag.linux.link import Detail
from netdiag.linux.netlink.attributes import Malformed, attributes
from netdiag.linux.netlink.readers import (
    Fields,
    hardware_address,
    hexadecimal,
    ip_address,
    nothing,
    number,
    seconds,
    truth,
    word,
)

_STATES = ("disabled", "listening", "learning", "forwarding", "blocking")
_PROTOCOLS = {0x8100: "802.1Q", 0x88A8: "802.1ad"}
_SWITCHES = struct.Struct("=II")
# enum br_boolopt_id
_SWITCH_NAMES = (
    "no_linklocal_learn",
    "mcast_vlan_snooping",
    "mst_enabled",
    "mdb_offload_fail_notification",
    "fdb_local_vlan_0",
)


def bridge_id(data: bytes) -> str:
    """Priority and address of a bridge as `ip` writes them: "8000.2:42:0:0:0:1"."""
    if len(data) != 8:
        raise Malformed(f"a bridge identifier of {len(data)} bytes")
    return f"{data[:2].hex()}.{':'.join(f'{byte:x}' for byte in data[2:])}"


def vlan_protocol(data: bytes) -> str:
    """Which tags are VLAN tags; the number is an EtherType."""
    if len(data) != 2:
        raise Malformed(f"a VLAN protocol of {len(data)} bytes")
    value = int.from_bytes(data, "big")
    return _PROTOCOLS.get(value) or f"[{value}]"


def _switches(data: bytes) -> Detail:
    if len(data) != _SWITCHES.size:
        raise Malformed(f"bridge switches of {len(data)} bytes")
    on, known = _SWITCHES.unpack(data)
    return {name: on >> bit & 1 for bit, name in enumerate(_SWITCH_NAMES) if known >> bit & 1}


def _state(data: bytes) -> Detail:
    value = number(data)
    name = _STATES[value] if value < len(_STATES) else str(value)
    return {"state": name, "state_index": value} if value < len(_STATES) else {"state_index": value}


def _querier(data: bytes) -> Detail:
    """The multicast querier for IPv4 and IPv6: address, port by index and the timer of others."""
    found = attributes(data)
    told: dict[str, Detail] = {}
    for name, first in (("mcast_querier_ipv4_addr", 1), ("mcast_querier_ipv6_addr", 5)):
        if first in found:
            told[name] = ip_address(found[first])
            port = found.get(first + 1)
            if port is not None:
                told[name.replace("addr", "port")] = number(port)
    return told


BRIDGE: Fields = {
    1: ("forward_delay", number),
    2: ("hello_time", number),
    3: ("max_age", number),
    4: ("ageing_time", number),
    5: ("stp_state", number),
    6: ("priority", number),
    7: ("vlan_filtering", number),
    8: ("vlan_protocol", vlan_protocol),
    9: ("group_fwd_mask", hexadecimal),
    10: ("root_id", bridge_id),
    11: ("bridge_id", bridge_id),
    12: ("root_port", number),
    13: ("root_path_cost", number),
    14: ("topology_change", number),
    15: ("topology_change_detected", number),
    16: ("hello_timer", seconds),
    17: ("tcn_timer", seconds),
    18: ("topology_change_timer", seconds),
    19: ("gc_timer", seconds),
    20: ("group_addr", hardware_address),
    22: ("mcast_router", number),
    23: ("mcast_snooping", number),
    24: ("mcast_query_use_ifaddr", number),
    25: ("mcast_querier", number),
    26: ("mcast_hash_elasticity", number),
    27: ("mcast_hash_max", number),
    28: ("mcast_last_member_cnt", number),
    29: ("mcast_startup_query_cnt", number),
    30: ("mcast_last_member_intvl", number),
    31: ("mcast_membership_intvl", number),
    32: ("mcast_querier_intvl", number),
    33: ("mcast_query_intvl", number),
    34: ("mcast_query_response_intvl", number),
    35: ("mcast_startup_query_intvl", number),
    36: ("nf_call_iptables", number),
    37: ("nf_call_ip6tables", number),
    38: ("nf_call_arptables", number),
    39: ("vlan_default_pvid", number),
    40: ("", nothing),
    41: ("vlan_stats_enabled", number),
    42: ("mcast_stats_enabled", number),
    43: ("mcast_igmp_version", number),
    44: ("mcast_mld_version", number),
    45: ("vlan_stats_per_port", number),
    46: (None, _switches),
    47: (None, _querier),
    48: ("fdb_n_learned", number),
    49: ("fdb_max_learned", number),
    50: ("stp_mode", word({0: "auto", 1: "user", 2: "kernel"})),
}

BRIDGE_PORT: Fields = {
    1: (None, _state),
    2: ("priority", number),
    3: ("cost", number),
    4: ("hairpin", truth),
    5: ("guard", truth),
    6: ("root_block", truth),
    7: ("fastleave", truth),
    8: ("learning", truth),
    9: ("flood", truth),
    10: ("proxy_arp", truth),
    11: ("learning_sync", truth),
    12: ("proxy_arp_wifi", truth),
    13: ("root_id", bridge_id),
    14: ("bridge_id", bridge_id),
    15: ("designated_port", number),
    16: ("designated_cost", number),
    17: ("id", hexadecimal),
    18: ("no", hexadecimal),
    19: ("topology_change_ack", number),
    20: ("config_pending", number),
    21: ("message_age_timer", seconds),
    22: ("forward_delay_timer", seconds),
    23: ("hold_timer", seconds),
    25: ("multicast_router", number),
    26: ("", nothing),
    27: ("mcast_flood", truth),
    28: ("mcast_to_unicast", truth),
    29: ("vlan_tunnel", truth),
    30: ("bcast_flood", truth),
    31: ("group_fwd_mask", hexadecimal),
    32: ("neigh_suppress", truth),
    33: ("isolated", truth),
    34: ("backup_port", number),
    35: ("mrp_ring_open", truth),
    36: ("mrp_in_open", truth),
    37: ("mcast_eht_hosts_limit", number),
    38: ("mcast_eht_hosts_cnt", number),
    39: ("locked", truth),
    40: ("mab", truth),
    41: ("mcast_n_groups", number),
    42: ("mcast_max_groups", number),
    43: ("neigh_vlan_suppress", truth),
    44: ("backup_nhid", number),
    45: ("neigh_forward_grat", truth),
}
