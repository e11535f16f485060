"""The details of each kind of link, under the names of `ip -d -j link` (linux/if_link.h, linux/if_tunnel.h).

A kind that is in neither table is known by its name only; its details stay undecoded.
"""

import ipaddress
import struct
from collections.abc import Mapping
from functools import partial

from netdiag.linux.netlink.messages import (
    Fields,
    Malformed,
    Reader,
    attributes,
    each_attribute,
    hardware_address,
    hexadecimal,
    ip_address,
    network_number,
    nothing,
    number,
    present,
    read_fields,
    seconds,
    signed,
    truth,
    word,
)
from netdiag.linux.rtnetlink import Detail


def _unless_zero(name: str, read: Reader) -> Reader:
    """A reader of what `ip` leaves out where it is not set."""

    def read_set(data: bytes) -> Detail:
        value = read(data)
        return {name: value} if any(data) else {}

    return read_set


_LOWER = _unless_zero("link", number)
_TOS = _unless_zero("tos", hexadecimal)
_FWMARK = _unless_zero("fwmark", hexadecimal)


def _named(*names: str) -> dict[int, str]:
    return dict(enumerate(names))


_MODES = _named("balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb")
_VALIDATIONS = _named("none", "active", "backup", "all", "filter", "filter_active", "filter_backup")
_HASHES = _named("layer2", "layer3+4", "layer2+3", "encap2+3", "encap3+4", "vlan+srcmac")
_SELECTIONS = _named("stable", "bandwidth", "count", "actor_port_prio")
_CHURN = _named("MONITOR", "CHURN", "NO_CHURN")
# LACP_STATE_*, lowest bit first
_LACP = (
    "active",
    "short_timeout",
    "aggregating",
    "in_sync",
    "collecting",
    "distributing",
    "defaulted",
    "expired",
)

_AGGREGATION: Fields = {
    1: ("aggregator", number),
    2: ("num_ports", number),
    3: ("actor_key", number),
    4: ("partner_key", number),
    5: ("partner_mac", hardware_address),
}


def _addresses(data: bytes) -> Detail:
    return [ip_address(value) for _, value in each_attribute(data)]


def _validation(data: bytes) -> Detail:
    """`ip` has null for "none"."""
    return word(_VALIDATIONS)(data) if number(data) else None


def _aggregation(data: bytes) -> Detail:
    return read_fields(attributes(data), _AGGREGATION, where="", undecoded={})


def _port_state(name: str, data: bytes) -> Detail:
    value = number(data)
    return {name: value, f"{name}_str": [said for bit, said in enumerate(_LACP) if value >> bit & 1]}


BOND: Fields = {
    1: ("mode", word(_MODES)),
    2: ("active_slave", number),
    3: ("miimon", number),
    4: ("updelay", number),
    5: ("downdelay", number),
    6: ("use_carrier", number),
    7: ("arp_interval", number),
    8: ("arp_ip_target", _addresses),
    9: ("arp_validate", _validation),
    10: ("arp_all_targets", word(_named("any", "all"))),
    11: ("primary", number),
    12: ("primary_reselect", word(_named("always", "better", "failure"))),
    13: ("fail_over_mac", word(_named("none", "active", "follow"))),
    14: ("xmit_hash_policy", word(_HASHES)),
    15: ("resend_igmp", number),
    16: ("num_peer_notif", number),
    17: ("all_slaves_active", number),
    18: ("min_links", number),
    19: ("lp_interval", number),
    20: ("packets_per_slave", number),
    21: ("ad_lacp_rate", word(_named("slow", "fast"))),
    22: ("ad_select", word(_SELECTIONS)),
    23: ("ad_info", _aggregation),
    24: ("ad_actor_sys_prio", number),
    25: ("ad_user_port_key", number),
    26: ("ad_actor_system", hardware_address),
    27: ("tlb_dynamic_lb", number),
    28: ("peer_notify_delay", number),
    29: ("ad_lacp_active", word(_named("off", "on"))),
    30: ("arp_missed_max", number),
    31: ("ns_ip6_target", _addresses),
    32: ("coupled_control", truth),
    33: ("broadcast_neighbor", truth),
    34: ("lacp_strict", truth),
}

BOND_PORT: Fields = {
    1: ("state", word(_named("ACTIVE", "BACKUP"))),
    2: ("mii_status", word(_named("UP", "GOING_DOWN", "DOWN", "GOING_BACK"))),
    3: ("link_failure_count", number),
    4: ("perm_hwaddr", hardware_address),
    5: ("queue_id", number),
    6: ("ad_aggregator_id", number),
    7: (None, partial(_port_state, "ad_actor_oper_port_state")),
    8: (None, partial(_port_state, "ad_partner_oper_port_state")),
    9: ("prio", signed),
    10: ("actor_port_prio", number),
    11: ("churn_actor_state", word(_CHURN)),
    12: ("churn_partner_state", word(_CHURN)),
}


_PORT_STATES = ("disabled", "listening", "learning", "forwarding", "blocking")
_VLAN_PROTOCOLS = {0x8100: "802.1Q", 0x88A8: "802.1ad"}
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
    return _VLAN_PROTOCOLS.get(value) or f"[{value}]"


def _switches(data: bytes) -> Detail:
    if len(data) != _SWITCHES.size:
        raise Malformed(f"bridge switches of {len(data)} bytes")
    on, known = _SWITCHES.unpack(data)
    return {name: on >> bit & 1 for bit, name in enumerate(_SWITCH_NAMES) if known >> bit & 1}


def _bridge_port_state(data: bytes) -> Detail:
    value = number(data)
    name = _PORT_STATES[value] if value < len(_PORT_STATES) else str(value)
    return {"state": name, "state_index": value} if value < len(_PORT_STATES) else {"state_index": value}


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
    1: (None, _bridge_port_state),
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


_RANGE = struct.Struct(">HH")
_FRAGMENT = {0: "unset", 1: "set", 2: "inherit"}


def _other_end(data: bytes) -> Detail:
    """Where frames without a forwarding entry go: a multicast group or one other end."""
    address = ipaddress.ip_address(ip_address(data))
    if address.is_unspecified:
        return {}
    suffix = "6" if address.version == 6 else ""
    return {("group" if address.is_multicast else "remote") + suffix: ip_address(data)}


def _own_end(data: bytes) -> Detail:
    return _unless_zero("local6" if len(data) == 16 else "local", ip_address)(data)


def _port_range(data: bytes) -> Detail:
    if len(data) != _RANGE.size:
        raise Malformed(f"a range of ports of {len(data)} bytes")
    low, high = _RANGE.unpack(data)
    return {"low": low, "high": high}


def _network_hexadecimal(data: bytes) -> Detail:
    return f"{network_number(data):#x}"


VXLAN: Fields = {
    1: ("id", number),
    2: (None, _other_end),
    3: (None, _LOWER),
    4: (None, _own_end),
    5: ("ttl", number),
    6: (None, _TOS),
    7: ("learning", truth),
    8: ("ageing", number),
    9: (None, _unless_zero("limit", number)),
    10: ("port_range", _port_range),
    11: ("proxy", truth),
    12: ("rsc", truth),
    13: ("l2miss", truth),
    14: ("l3miss", truth),
    15: ("port", network_number),
    16: (None, _other_end),
    17: (None, _own_end),
    18: ("udp_csum", truth),
    19: ("udp_zero_csum6_tx", truth),
    20: ("udp_zero_csum6_rx", truth),
    21: ("remcsum_tx", truth),
    22: ("remcsum_rx", truth),
    23: ("gbp", nothing),
    24: ("remcsum_nopartial", nothing),
    25: ("external", truth),
    26: (None, _unless_zero("label", _network_hexadecimal)),
    27: ("gpe", nothing),
    28: ("ttl_inherit", truth),
    29: ("df", word(_FRAGMENT)),
    30: ("vnifilter", truth),
    31: ("localbypass", truth),
    32: ("label_policy", number),
    33: ("reserved_bits", _network_hexadecimal),
    34: ("mcroute", truth),
}

GENEVE: Fields = {
    1: ("id", number),
    2: (None, _other_end),
    3: ("ttl", number),
    4: (None, _TOS),
    5: ("port", network_number),
    6: ("external", present),
    7: (None, _other_end),
    8: ("udp_csum", truth),
    9: ("udp_zero_csum6_tx", truth),
    10: ("udp_zero_csum6_rx", truth),
    11: (None, _unless_zero("label", _network_hexadecimal)),
    12: ("ttl_inherit", truth),
    13: ("df", word(_FRAGMENT)),
    14: ("inner_proto_inherit", present),
    15: ("port_range", _port_range),
    16: ("gro_hint", present),
    17: (None, _own_end),
    18: (None, _own_end),
}


_PAIR = struct.Struct("=II")
_VLAN_FLAGS = ("REORDER_HDR", "GVRP", "LOOSE_BINDING", "MVRP", "BRIDGE_BINDING")
_POLICIES = {0: "forward", 2: "blackhole"}
_SCRUBS = {0: "none", 1: "default"}


def _pair(data: bytes) -> tuple[int, int]:
    if len(data) < _PAIR.size:
        raise Malformed(f"two numbers in {len(data)} bytes")
    first, second = _PAIR.unpack_from(data)
    return first, second


def _vlan_flags(data: bytes) -> Detail:
    flags, _ = _pair(data)
    return [name for bit, name in enumerate(_VLAN_FLAGS) if flags >> bit & 1]


def _priorities(data: bytes) -> Detail:
    pairs = (_pair(value) for _, value in each_attribute(data))
    return [{"from": first, "to": second} for first, second in pairs]


def _macvlan_flags(data: bytes) -> Detail:
    flags = number(data)
    return {name: True for bit, name in ((1, "nopromisc"), (2, "nodst")) if flags & bit}


def _sources(data: bytes) -> Detail:
    return [hardware_address(value) for _, value in each_attribute(data)]


def _ipvlan_flags(data: bytes) -> Detail:
    flags = number(data)
    return {"private" if flags & 1 else "vepa" if flags & 2 else "bridge": True}


VLAN: Fields = {
    1: ("id", number),
    2: ("flags", _vlan_flags),
    3: ("egress_qos", _priorities),
    4: ("ingress_qos", _priorities),
    5: ("protocol", vlan_protocol),
}

MACVLAN: Fields = {
    1: ("mode", word({1: "private", 2: "vepa", 4: "bridge", 8: "passthru", 16: "source"})),
    2: (None, _macvlan_flags),
    5: ("macaddr_data", _sources),
    6: ("macaddr_count", number),
    7: ("bcqueuelen", number),
    8: ("usedbcqueuelen", number),
    9: ("bclim", signed),
}

IPVLAN: Fields = {
    1: ("mode", word({0: "l2", 1: "l3", 2: "l3s"})),
    2: (None, _ipvlan_flags),
}

VRF: Fields = {1: ("table", number)}
VRF_PORT: Fields = {1: ("table", number)}

NETKIT: Fields = {
    1: ("", nothing),
    2: ("type", word({0: "peer", 1: "primary"})),
    3: ("policy", word(_POLICIES)),
    4: ("peer_policy", word(_POLICIES)),
    5: ("mode", word({0: "l2", 1: "l3"})),
    6: ("scrub", word(_SCRUBS)),
    7: ("peer_scrub", word(_SCRUBS)),
    8: ("headroom", number),
    9: ("tailroom", number),
    10: ("pairing", word({0: "pair", 1: "single"})),
}


# `user` and `group` are numbers here; `ip` looks their names up.
TUN: Fields = {
    1: ("user", number),
    2: ("group", number),
    3: ("type", word({1: "tun", 2: "tap"})),
    4: ("pi", truth),
    5: ("vnet_hdr", truth),
    6: ("persist", truth),
    7: ("multi_queue", truth),
    8: ("numqueues", number),
    9: ("numdisabled", number),
}


_CHECKSUM, _KEY, _SEQUENCE = 0x8000, 0x2000, 0x1000
_ISATAP = 1
# IP6_TNL_F_* (linux/ip6_tunnel.h), lowest bit first
_FLAGS6 = (
    "ip6_tnl_f_ign_encap_limit",
    "ip6_tnl_f_use_orig_tclass",
    "ip6_tnl_f_use_orig_flowlabel",
    "ip6_tnl_f_mip6_dev",
    "ip6_tnl_f_rcv_dscp_copy",
    "ip6_tnl_f_use_orig_fwmark",
    "ip6_tnl_f_allow_local_remote",
)


def _end(data: bytes) -> str:
    address = ip_address(data)
    return address if any(data) else "any"


def _gre_flags(letter: str, data: bytes) -> Detail:
    """Flags as the wire has them, in network byte order."""
    flags = network_number(data)
    words: tuple[tuple[int, str], ...] = ((_SEQUENCE, "seq"), (_CHECKSUM, "csum"))
    return {letter + name: True for bit, name in words if flags & bit}


def _flags6(data: bytes) -> Detail:
    flags = number(data)
    return {name: True for bit, name in enumerate(_FLAGS6) if flags >> bit & 1}


def _flow(data: bytes) -> Detail:
    """Traffic class and flow label, the low 28 bits of the first word of an IPv6 header."""
    value = network_number(data)
    return {"tclass": f"0x{value >> 20 & 0xFF:02x}", "flowlabel": f"0x{value & 0xFFFFF:05x}"}


def _encapsulation(data: bytes) -> Detail:
    value = number(data)
    return {"encap_type": {1: "fou", 2: "gue"}.get(value, str(value))} if value else {}


def _sit_flags(data: bytes) -> Detail:
    return {"isatap": True} if number(data) & _ISATAP else {}


def _proto(names: dict[int, str]) -> Fields:
    return {9: ("proto", word({0: "any", 137: "mplsip", **names}))}


_GRE: Fields = {
    1: (None, _LOWER),
    2: (None, partial(_gre_flags, "i")),
    3: (None, partial(_gre_flags, "o")),
    4: (None, _unless_zero("ikey", ip_address)),
    5: (None, _unless_zero("okey", ip_address)),
    6: ("local", _end),
    7: ("remote", _end),
    8: ("ttl", number),
    14: (None, _encapsulation),
    15: ("encap_flags", number),
    16: ("encap_sport", network_number),
    17: ("encap_dport", network_number),
    18: ("external", present),
    20: (None, _FWMARK),
    21: ("erspan_index", number),
    22: ("erspan_ver", number),
    23: ("erspan_dir", word({0: "ingress", 1: "egress"})),
    24: ("erspan_hwid", hexadecimal),
}

GRE: Fields = {
    **_GRE,
    9: (None, _TOS),
    10: ("pmtudisc", truth),
    19: ("ignore_df", truth),
}

GRE6: Fields = {
    **_GRE,
    11: ("encap_limit", number),
    12: (None, _flow),
    13: (None, _flags6),
}

_IPTUN: Fields = {
    1: (None, _LOWER),
    2: ("local", _end),
    3: ("remote", _end),
    4: ("ttl", number),
    15: (None, _encapsulation),
    16: ("encap_flags", number),
    17: ("encap_sport", network_number),
    18: ("encap_dport", network_number),
    19: ("external", present),
    20: (None, _FWMARK),
}

IPIP: Fields = {
    **_IPTUN,
    **_proto({4: "ipip", 41: "ip6ip"}),
    5: (None, _TOS),
    8: (None, _sit_flags),
    10: ("pmtudisc", truth),
    11: ("prefix", ip_address),
    12: ("relay_prefix", ip_address),
    13: ("prefixlen", number),
    14: ("relay_prefixlen", number),
}

IP6TNL: Fields = {
    **_IPTUN,
    **_proto({4: "ipip6", 41: "ip6ip6"}),
    6: ("encap_limit", number),
    7: (None, _flow),
    8: (None, _flags6),
}

VTI: Fields = {
    1: (None, _LOWER),
    2: ("ikey", ip_address),
    3: ("okey", ip_address),
    4: ("local", _end),
    5: ("remote", _end),
    6: (None, _FWMARK),
}


KINDS: Mapping[str, Fields] = {
    "bond": BOND,
    "bridge": BRIDGE,
    "erspan": GRE,
    "geneve": GENEVE,
    "gre": GRE,
    "gretap": GRE,
    "ip6erspan": GRE6,
    "ip6gre": GRE6,
    "ip6gretap": GRE6,
    "ip6tnl": IP6TNL,
    "ipip": IPIP,
    "ipvlan": IPVLAN,
    "ipvtap": IPVLAN,
    "macvlan": MACVLAN,
    "macvtap": MACVLAN,
    "netkit": NETKIT,
    "sit": IPIP,
    "tun": TUN,
    "vlan": VLAN,
    "vrf": VRF,
    "vti": VTI,
    "vti6": VTI,
    "vxlan": VXLAN,
}
PORTS: Mapping[str, Fields] = {"bond": BOND_PORT, "bridge": BRIDGE_PORT, "vrf": VRF_PORT}
