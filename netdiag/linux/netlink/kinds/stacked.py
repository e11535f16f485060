"""Devices on top of others: VLAN, macvlan, ipvlan, VRF, and netkit, the pair for programs (linux/if_link.h)."""

import struct

from netdiag.linux.link import Detail
from netdiag.linux.netlink.attributes import Malformed, each_attribute
from netdiag.linux.netlink.kinds.bridge import vlan_protocol
from netdiag.linux.netlink.readers import Fields, hardware_address, nothing, number, signed, word

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
