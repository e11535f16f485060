"""VLANs of bridge ports from RTM_NEWLINK of AF_BRIDGE."""

import struct

import pytest

from netdiag.linux.neighbour import BridgeVlan
from netdiag.linux.netlink.attributes import Malformed
from netdiag.linux.netlink.bridge_vlans import decode_bridge_vlans, request_bridge_vlans
from tests.linux.netlink.assembling import message, nla, u16, u32

BODY = struct.pack("=BxHiII", 7, 1, 4, 0, 0)


def vlan(number: int, flags: int = 0) -> bytes:
    return nla(2, u16(flags) + u16(number))


def test_the_request() -> None:
    assert request_bridge_vlans() == message(18, b"\x07" + bytes(15) + nla(29, u32(4)), flags=0x301, sequence=0)


def test_single_ones_and_a_range() -> None:
    spec = nla(0, u16(1)) + vlan(1, 0x6) + vlan(10, 0x8) + vlan(20, 0x10) + vlan(30, 0x4)
    assert decode_bridge_vlans(memoryview(BODY + nla(26, spec))) == (
        BridgeVlan(ifindex=4, vlan=1, vlan_end=1, flags=("PVID", "Egress Untagged")),
        BridgeVlan(ifindex=4, vlan=10, vlan_end=20),
        BridgeVlan(ifindex=4, vlan=30, vlan_end=30, flags=("Egress Untagged",)),
    )


def test_none() -> None:
    assert decode_bridge_vlans(BODY) == ()
    assert decode_bridge_vlans(bytes(16) + nla(26, vlan(1))) == ()


@pytest.mark.parametrize("data", [b"", BODY + nla(26, nla(2, b"\0")), BODY + nla(26, vlan(10, 0x8))])
def test_what_does_not_end_is_malformed(data: bytes) -> None:
    with pytest.raises(Malformed):
        decode_bridge_vlans(data)
