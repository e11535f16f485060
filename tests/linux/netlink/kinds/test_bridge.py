"""Bridges and their ports."""

import struct

import pytest

from netdiag.linux.netlink.attributes import Malformed
from netdiag.linux.netlink.kinds.bridge import BRIDGE, BRIDGE_PORT, bridge_id, vlan_protocol
from netdiag.linux.netlink.readers import read_fields
from tests.linux.netlink.assembling import nla, u8, u16, u32

IDENTIFIER = bytes.fromhex("80000242ac110002")


def test_identifiers_and_tags() -> None:
    assert bridge_id(IDENTIFIER) == "8000.2:42:ac:11:0:2"
    assert [vlan_protocol(bytes.fromhex(tag)) for tag in ("8100", "88a8", "0800")] == ["802.1Q", "802.1ad", "[2048]"]


def test_switches_and_the_querier() -> None:
    found = {
        46: struct.pack("=II", 0b00001, 0b00011),
        47: nla(1, b"\x0a\0\0\1") + nla(2, u32(7)),
    }
    assert read_fields(found, BRIDGE, where="", undecoded={}) == {
        "no_linklocal_learn": 1,
        "mcast_vlan_snooping": 0,
        "mcast_querier_ipv4_addr": "10.0.0.1",
        "mcast_querier_ipv4_port": 7,
    }


def test_states_of_a_port() -> None:
    names = [read_fields({1: u8(state)}, BRIDGE_PORT, where="", undecoded={}).get("state") for state in range(6)]
    assert names == ["disabled", "listening", "learning", "forwarding", "blocking", None]


@pytest.mark.parametrize("found", [{11: b"\0" * 7}, {8: u32(1)}, {46: u16(1)}, {47: b"\1"}, {1: b""}])
def test_sizes_that_lie_are_malformed(found: dict[int, bytes]) -> None:
    with pytest.raises(Malformed):
        read_fields(found, BRIDGE, where="", undecoded={})
