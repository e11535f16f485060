"""Bonds and their ports (IFLA_BOND_*, IFLA_BOND_SLAVE_*)."""

from netdiag.linux.link import Detail
from netdiag.linux.netlink.attributes import attributes, each_attribute
from netdiag.linux.netlink.readers import (
    Fields,
    hardware_address,
    ip_address,
    number,
    read_fields,
    signed,
    truth,
    word,
)


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


def _actor_state(data: bytes) -> Detail:
    return _port_state("ad_actor_oper_port_state", data)


def _partner_state(data: bytes) -> Detail:
    return _port_state("ad_partner_oper_port_state", data)


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
    7: (None, _actor_state),
    8: (None, _partner_state),
    9: ("prio", signed),
    10: ("actor_port_prio", number),
    11: ("churn_actor_state", word(_CHURN)),
    12: ("churn_partner_state", word(_CHURN)),
}
