"""IP in IP, GRE, ERSPAN and VTI (linux/if_tunnel.h).

An end that is not set is "any", as `ip` says. FOU and GUE are told by `encap_type` and the ports beside it.
"""

from netdiag.linux.link import Detail
from netdiag.linux.netlink.readers import (
    Fields,
    hexadecimal,
    ip_address,
    network_number,
    number,
    present,
    truth,
    word,
)

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


def _lower(data: bytes) -> Detail:
    return {"link": number(data)} if number(data) else {}


def _type_of_service(data: bytes) -> Detail:
    return {"tos": f"{number(data):#x}"} if number(data) else {}


def _mark(data: bytes) -> Detail:
    return {"fwmark": f"{number(data):#x}"} if number(data) else {}


def _gre_flags(letter: str, data: bytes) -> Detail:
    """Flags as the wire has them, in network byte order."""
    flags = network_number(data)
    words: tuple[tuple[int, str], ...] = ((_SEQUENCE, "seq"), (_CHECKSUM, "csum"))
    return {letter + name: True for bit, name in words if flags & bit}


def _in_flags(data: bytes) -> Detail:
    return _gre_flags("i", data)


def _out_flags(data: bytes) -> Detail:
    return _gre_flags("o", data)


def _in_key(data: bytes) -> Detail:
    return {"ikey": ip_address(data)} if any(data) else {}


def _out_key(data: bytes) -> Detail:
    return {"okey": ip_address(data)} if any(data) else {}


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
    1: (None, _lower),
    2: (None, _in_flags),
    3: (None, _out_flags),
    4: (None, _in_key),
    5: (None, _out_key),
    6: ("local", _end),
    7: ("remote", _end),
    8: ("ttl", number),
    14: (None, _encapsulation),
    15: ("encap_flags", number),
    16: ("encap_sport", network_number),
    17: ("encap_dport", network_number),
    18: ("external", present),
    20: (None, _mark),
    21: ("erspan_index", number),
    22: ("erspan_ver", number),
    23: ("erspan_dir", word({0: "ingress", 1: "egress"})),
    24: ("erspan_hwid", hexadecimal),
}

GRE: Fields = {
    **_GRE,
    9: (None, _type_of_service),
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
    1: (None, _lower),
    2: ("local", _end),
    3: ("remote", _end),
    4: ("ttl", number),
    15: (None, _encapsulation),
    16: ("encap_flags", number),
    17: ("encap_sport", network_number),
    18: ("encap_dport", network_number),
    19: ("external", present),
    20: (None, _mark),
}

IPIP: Fields = {
    **_IPTUN,
    **_proto({4: "ipip", 41: "ip6ip"}),
    5: (None, _type_of_service),
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
    1: (None, _lower),
    2: ("ikey", ip_address),
    3: ("okey", ip_address),
    4: ("local", _end),
    5: ("remote", _end),
    6: (None, _mark),
}
