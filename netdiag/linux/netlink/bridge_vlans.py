"""RTM_GETLINK of AF_BRIDGE: the VLANs of the ports of filtering bridges (linux/if_bridge.h).

A kernel without VLAN filtering, and a namespace without a bridge, may refuse the request with EOPNOTSUPP: there are no
VLANs then.
"""

import struct

from netdiag.linux.neighbour import BridgeVlan
from netdiag.linux.netlink.attributes import Malformed, attribute, attributes, each_attribute
from netdiag.linux.netlink.messages import MessageType, request

_BODY = struct.Struct("=BxHiII")
_NUMBER = struct.Struct("=I")
_VLAN = struct.Struct("=HH")
_AF_BRIDGE = 7
_EXT_MASK, _AF_SPEC, _VLAN_INFO = 29, 26, 2
_COMPRESSED = 4
_BEGIN, _END = 0x8, 0x10
_FLAGS = ((0x2, "PVID"), (0x4, "Egress Untagged"))


def request_bridge_vlans() -> bytes:
    """The VLANs of all bridges and ports, neighbouring ones as ranges."""
    mask = attribute(_EXT_MASK, _NUMBER.pack(_COMPRESSED))
    return request(MessageType.GET_LINK, _BODY.pack(_AF_BRIDGE, 0, 0, 0, 0), mask)


def decode_bridge_vlans(payload: memoryview | bytes) -> tuple[BridgeVlan, ...]:
    """The VLANs of one device of a NEW_LINK message; none for another family than AF_BRIDGE."""
    data = bytes(payload)
    if len(data) < _BODY.size:
        raise Malformed(f"a link of {len(data)} bytes")
    family, _, ifindex, _, _ = _BODY.unpack_from(data)
    settings = attributes(data, _BODY.size).get(_AF_SPEC)
    if family != _AF_BRIDGE or settings is None:
        return ()
    found = []
    begin: int | None = None
    for key, value in each_attribute(settings):
        if key != _VLAN_INFO:
            continue
        if len(value) != _VLAN.size:
            raise Malformed(f"a VLAN of {len(value)} bytes")
        flags, vlan = _VLAN.unpack(value)
        if flags & _BEGIN:
            begin = vlan
            continue
        first = begin if begin is not None and flags & _END else vlan
        begin = None
        words = tuple(name for bit, name in _FLAGS if flags & bit)
        found.append(BridgeVlan(ifindex=ifindex, vlan=first, vlan_end=vlan, flags=words))
    if begin is not None:
        raise Malformed(f"a range of VLANs from {begin} without an end")
    return tuple(found)
