"""VLAN, macvlan, ipvlan and netkit."""

import pytest

from netdiag.linux.netlink.attributes import Malformed
from netdiag.linux.netlink.kinds.stacked import IPVLAN, MACVLAN, NETKIT, VLAN
from netdiag.linux.netlink.readers import Fields, read_fields
from tests.linux.netlink.assembling import nla, u8, u16, u32


@pytest.mark.parametrize(
    ("fields", "found", "details"),
    [
        (
            VLAN,
            {1: u16(100), 2: u32(3) + u32(3), 3: nla(1, u32(1) + u32(5)), 5: b"\x81\x00"},
            {"id": 100, "flags": ["REORDER_HDR", "GVRP"], "egress_qos": [{"from": 1, "to": 5}], "protocol": "802.1Q"},
        ),
        (
            MACVLAN,
            {1: u32(16), 2: u16(1), 5: nla(4, b"\x02\0\0\0\0\1"), 6: u32(1)},
            {"mode": "source", "nopromisc": True, "macaddr_data": ["02:00:00:00:00:01"], "macaddr_count": 1},
        ),
        (IPVLAN, {1: u16(1), 2: u16(0)}, {"mode": "l3", "bridge": True}),
        (IPVLAN, {2: u16(1)}, {"private": True}),
        (IPVLAN, {2: u16(2)}, {"vepa": True}),
        (
            NETKIT,
            {2: u8(1), 3: u32(2), 5: u32(1), 6: u32(1)},
            {"type": "primary", "policy": "blackhole", "mode": "l3", "scrub": "default"},
        ),
    ],
)
def test_details(fields: Fields, found: dict[int, bytes], details: dict[str, object]) -> None:
    assert read_fields(found, fields, where="", undecoded={}) == details


@pytest.mark.parametrize("found", [{2: u32(1)}, {3: nla(1, u32(1))}, {5: b"\x81"}])
def test_sizes_that_lie_are_malformed(found: dict[int, bytes]) -> None:
    with pytest.raises(Malformed):
        read_fields(found, VLAN, where="", undecoded={})
