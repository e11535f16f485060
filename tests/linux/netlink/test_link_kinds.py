"""Bonds and their ports."""

import struct

import pytest

from netdiag.linux.netlink.link_kinds import (
    BOND,
    BOND_PORT,
    BRIDGE,
    BRIDGE_PORT,
    GENEVE,
    GRE,
    GRE6,
    IP6TNL,
    IPIP,
    IPVLAN,
    MACVLAN,
    NETKIT,
    TUN,
    VLAN,
    VTI,
    VXLAN,
    bridge_id,
    vlan_protocol,
)
from netdiag.linux.netlink.messages import Fields, Malformed, read_fields
from tests.linux.netlink.message_bytes import nla, u8, u16, u32


def test_words_targets_and_aggregation() -> None:
    found = {
        1: u8(4),
        2: u32(7),
        8: nla(0, b"\x0a\0\0\1") + nla(1, b"\x0a\0\0\2"),
        9: u32(0),
        14: u8(1),
        23: nla(1, u16(3)) + nla(5, bytes.fromhex("0242ac110002")),
    }
    assert read_fields(found, BOND, where="", undecoded={}) == {
        "mode": "802.3ad",
        "active_slave": 7,
        "arp_ip_target": ["10.0.0.1", "10.0.0.2"],
        "arp_validate": None,
        "xmit_hash_policy": "layer3+4",
        "ad_info": {"aggregator": 3, "partner_mac": "02:42:ac:11:00:02"},
    }
    assert read_fields({9: u32(3)}, BOND, where="", undecoded={}) == {"arp_validate": "all"}


def test_a_port() -> None:
    found = {1: u8(1), 2: u8(2), 7: u8(0b101), 9: u32(0xFFFFFFFE)}
    assert read_fields(found, BOND_PORT, where="", undecoded={}) == {
        "state": "BACKUP",
        "mii_status": "DOWN",
        "ad_actor_oper_port_state": 5,
        "ad_actor_oper_port_state_str": ["active", "aggregating"],
        "prio": -2,
    }


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


@pytest.mark.parametrize(
    ("found", "details"),
    [
        ({2: b"\x0a\0\0\1", 4: b"\x0a\0\0\2"}, {"remote": "10.0.0.1", "local": "10.0.0.2"}),
        ({2: b"\xef\1\1\1", 4: bytes(4)}, {"group": "239.1.1.1"}),
        ({16: b"\xff\x02" + bytes(13) + b"\1", 17: bytes(15) + b"\1"}, {"group6": "ff02::1", "local6": "::1"}),
        ({2: bytes(4), 3: u32(0), 6: u8(0), 9: u32(0), 26: bytes(4)}, {}),
        ({3: u32(7), 6: u8(16), 9: u32(5), 26: b"\0\0\1\0"}, {"link": 7, "tos": "0x10", "limit": 5, "label": "0x100"}),
        (
            {1: u32(42), 10: b"\x80\x00\xff\xff", 15: b"\x12\xb5"},
            {"id": 42, "port_range": {"low": 32768, "high": 65535}, "port": 4789},
        ),
    ],
)
def test_vxlan(found: dict[int, bytes], details: dict[str, object]) -> None:
    assert read_fields(found, VXLAN, where="", undecoded={}) == details


def test_geneve() -> None:
    found = {1: u32(9), 7: bytes(15) + b"\1", 6: b"", 13: u8(2)}
    assert read_fields(found, GENEVE, where="", undecoded={}) == {
        "id": 9,
        "remote6": "::1",
        "external": True,
        "df": "inherit",
    }


@pytest.mark.parametrize("found", [{10: b"\0"}, {2: b"\0"}, {4: b""}])
def test_overlay_sizes_that_lie_are_malformed(found: dict[int, bytes]) -> None:
    with pytest.raises(Malformed):
        read_fields(found, VXLAN, where="", undecoded={})


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
def test_stacked_sizes_that_lie_are_malformed(found: dict[int, bytes]) -> None:
    with pytest.raises(Malformed):
        read_fields(found, VLAN, where="", undecoded={})


def test_tun_details() -> None:
    found = {1: u32(1000), 3: u8(2), 6: u8(1), 7: u8(0), 8: u32(3)}
    assert read_fields(found, TUN, where="", undecoded={}) == {
        "user": 1000,
        "type": "tap",
        "persist": True,
        "multi_queue": False,
        "numqueues": 3,
    }


@pytest.mark.parametrize(
    ("fields", "found", "details"),
    [
        (
            GRE,
            {1: u32(3), 2: b"\xb0\x00", 3: b"\x20\x00", 4: u8(0) * 3 + b"\7", 6: bytes(4), 7: b"\x0a\0\0\1", 10: u8(1)},
            {
                "link": 3,
                "iseq": True,
                "icsum": True,
                "ikey": "0.0.0.7",
                "local": "any",
                "remote": "10.0.0.1",
                "pmtudisc": True,
            },
        ),
        (
            GRE,
            {22: u8(2), 23: u8(1), 24: u16(10), 20: u32(5), 9: u8(0)},
            {"erspan_ver": 2, "erspan_dir": "egress", "erspan_hwid": "0xa", "fwmark": "0x5"},
        ),
        (
            GRE6,
            {12: b"\x01\x20\x00\x05", 13: u32(1)},
            {"tclass": "0x12", "flowlabel": "0x00005", "ip6_tnl_f_ign_encap_limit": True},
        ),
        (IPIP, {9: u8(41), 8: u16(1), 13: u16(16)}, {"proto": "ip6ip", "isatap": True, "prefixlen": 16}),
        (IPIP, {9: u8(0), 15: u16(1), 18: b"\x15\xb3"}, {"proto": "any", "encap_type": "fou", "encap_dport": 5555}),
        (
            IP6TNL,
            {9: u8(4), 2: bytes(15) + b"\1", 8: u32(0x40)},
            {"proto": "ipip6", "local": "::1", "ip6_tnl_f_allow_local_remote": True},
        ),
        (VTI, {2: bytes(4), 3: bytes(3) + b"\1", 4: bytes(4)}, {"ikey": "0.0.0.0", "okey": "0.0.0.1", "local": "any"}),
    ],
)
def test_tunnels_details(fields: Fields, found: dict[int, bytes], details: dict[str, object]) -> None:
    assert read_fields(found, fields, where="", undecoded={}) == details
