"""Ethernet over UDP: vxlan and geneve (linux/if_link.h)."""

import ipaddress
import struct

from netdiag.linux.link import Detail
from netdiag.linux.netlink.attributes import Malformed
from netdiag.linux.netlink.readers import (
    Fields,
    ip_address,
    network_number,
    nothing,
    number,
    present,
    truth,
    word,
)

_RANGE = struct.Struct(">HH")
_FRAGMENT = {0: "unset", 1: "set", 2: "inherit"}


def _other_end(data: bytes) -> Detail:
    """Where to send what has no entry of its own: a multicast group or one other end."""
    address = ipaddress.ip_address(ip_address(data))
    if address.is_unspecified:
        return {}
    suffix = "6" if address.version == 6 else ""
    return {("group" if address.is_multicast else "remote") + suffix: ip_address(data)}


def _own_end(data: bytes) -> Detail:
    address = ip_address(data)
    if not any(data):
        return {}
    return {"local6" if len(data) == 16 else "local": address}


def _port_range(data: bytes) -> Detail:
    if len(data) != _RANGE.size:
        raise Malformed(f"a range of ports of {len(data)} bytes")
    low, high = _RANGE.unpack(data)
    return {"low": low, "high": high}


def _type_of_service(data: bytes) -> Detail:
    return {"tos": f"{number(data):#x}"} if number(data) else {}


def _label(data: bytes) -> Detail:
    return {"label": f"{network_number(data):#x}"} if network_number(data) else {}


def _limit(data: bytes) -> Detail:
    return {"limit": number(data)} if number(data) else {}


def _lower(data: bytes) -> Detail:
    return {"link": number(data)} if number(data) else {}


def _reserved(data: bytes) -> Detail:
    return f"{network_number(data):#x}"


VXLAN: Fields = {
    1: ("id", number),
    2: (None, _other_end),
    3: (None, _lower),
    4: (None, _own_end),
    5: ("ttl", number),
    6: (None, _type_of_service),
    7: ("learning", truth),
    8: ("ageing", number),
    9: (None, _limit),
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
    26: (None, _label),
    27: ("gpe", nothing),
    28: ("ttl_inherit", truth),
    29: ("df", word(_FRAGMENT)),
    30: ("vnifilter", truth),
    31: ("localbypass", truth),
    32: ("label_policy", number),
    33: ("reserved_bits", _reserved),
    34: ("mcroute", truth),
}

GENEVE: Fields = {
    1: ("id", number),
    2: (None, _other_end),
    3: ("ttl", number),
    4: (None, _type_of_service),
    5: ("port", network_number),
    6: ("external", present),
    7: (None, _other_end),
    8: ("udp_csum", truth),
    9: ("udp_zero_csum6_tx", truth),
    10: ("udp_zero_csum6_rx", truth),
    11: (None, _label),
    12: ("ttl_inherit", truth),
    13: ("df", word(_FRAGMENT)),
    14: ("inner_proto_inherit", present),
    15: ("port_range", _port_range),
    16: ("gro_hint", present),
    17: (None, _own_end),
    18: (None, _own_end),
}
