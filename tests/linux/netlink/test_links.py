"""Switches of a device out of the message that describes it."""

import struct
from dataclasses import replace
from pathlib import Path

import pytest

from netdiag.io.kernel.netlink import ROUTE, Channel
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
from netdiag.linux.netlink.links import (
    UNASSIGNED,
    LinkSettings,
    decode_bridge_vlans,
    decode_link,
    decode_link_settings,
    decode_netconf,
    decode_nsid,
    request_bridge_vlans,
    request_links,
    request_nsid,
)
from netdiag.linux.netlink.messages import Fields, Malformed, read_fields
from netdiag.linux.rtnetlink import BridgeVlan, Link
from tests.linux.netlink.message_bytes import message, nla, u8, u16, u32

GETLINK = struct.pack("=IHHII", 32, 18, 0, 0, 0) + bytes(16)


def attribute(number: int, value: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(value), number) + value + bytes(-len(value) % 4)


def link(conf: bytes, before: bytes = b"") -> bytes:
    families = attribute(10, attribute(2, CONF6)) + attribute(2, attribute(1, conf))
    return bytes(16) + before + attribute(26 | 0x8000, families)


CONF = struct.pack("=33I", *range(1, 34))
CONF6 = struct.pack("=27I", *[0] * 26, 1)
BOTH = LinkSettings(rp_filter=8, route_localnet=26, ipv6_disabled=True)


def test_each_switch_has_its_place() -> None:
    assert decode_link_settings(link(CONF)) == BOTH
    assert decode_link_settings(memoryview(link(CONF, attribute(3, b"eth0\0")))) == BOTH
    assert decode_link_settings(link(CONF[:100])) == replace(BOTH, route_localnet=None)


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        bytes(16),
        bytes(16) + attribute(26, attribute(10, b"")),
        bytes(16) + struct.pack("=HH", 3, 26) + CONF,
        bytes(16) + struct.pack("=HH", 4000, 26) + CONF,
        bytes(16) + attribute(26, struct.pack("=HH", 0, 0) * 4),
    ],
)
def test_without_settings_there_are_none(payload: bytes) -> None:
    assert decode_link_settings(payload) == LinkSettings()


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        (bytes(4) + attribute(1, b"\xff" * 4) + attribute(3, b"\2\0\0\0") + attribute(2, b"\1\0\0\0"), (1, 2)),
        (bytes(4) + attribute(2, b"\1\0"), (None, None)),
        (b"", (None, None)),
        (bytes(4) + struct.pack("=HH", 2, 2), (None, None)),
    ],
)
def test_shared_switches(payload: bytes, expected: tuple[int | None, int | None]) -> None:
    assert decode_netconf(payload) == expected


def test_the_kernel_says_over_netlink_what_its_files_say() -> None:
    with Channel(ROUTE) as channel:
        payloads = [bytes(payload) for _, payload in channel.dump(GETLINK)]
    conf = Path("/proc/sys/net/ipv4/conf")
    compared = 0
    for payload in payloads:
        # the name is the first attribute
        name = payload[20:].split(b"\0", 1)[0].decode()
        if (conf / name).is_dir():
            compared += 1
            found = decode_link_settings(payload)
            files = tuple(int((conf / name / switch).read_text()) for switch in ("rp_filter", "route_localnet"))
            assert (found.rp_filter, found.route_localnet) == files
            ipv6 = Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6")
            assert found.ipv6_disabled == (int(ipv6.read_text()) != 0 if ipv6.exists() else None)
    assert compared


def body(*, hardware: int = 1, ifindex: int = 7, flags: int = 0x1003) -> bytes:
    return struct.pack("=BxHiII", 0, hardware, ifindex, flags, 0)


def test_the_request_leaves_statistics_out() -> None:
    assert request_links() == message(18, bytes(16) + nla(29, u32(12)), flags=0x301, sequence=0)


def test_a_veth_whose_peer_is_elsewhere() -> None:
    data = body() + b"".join(
        (
            nla(3, b"eth0\0"),
            nla(4, u32(1400)),
            nla(1, bytes.fromhex("0242ac110002")),
            nla(2, b"\xff" * 6),
            nla(16, u8(6)),
            nla(5, u32(12)),
            nla(37, struct.pack("=i", -1)),
            nla(10, u32(3)),
            nla(6, b"noqueue\0"),
            nla(13, u32(1000)),
            nla(27, u32(4)),
            nla(20, b"a\x1b[31m\0"),
            nla(0x8000 | 52, nla(53, b"one\0") + nla(53, b"two\0")),
            nla(18, nla(1, b"veth\0")),
        )
    )
    assert decode_link(memoryview(data)) == Link(
        ifindex=7,
        ifname="eth0",
        kind="veth",
        flags=0x1003,
        mtu=1400,
        address="02:42:ac:11:00:02",
        broadcast="ff:ff:ff:ff:ff:ff",
        operstate="UP",
        master=3,
        link=12,
        link_netnsid=-1,
        altnames=("one", "two"),
        alias="a\x1b[31m",
        qdisc="noqueue",
        txqlen=1000,
        group=4,
    )


def test_a_tunnel_without_a_device_below_has_ip_addresses() -> None:
    data = body(hardware=768) + nla(3, b"tunl0\0") + nla(1, b"\x0a\0\0\1") + nla(5, u32(0))
    link = decode_link(data)
    assert (link.address, link.link, link.operstate) == ("10.0.0.1", None, "UNKNOWN")


def test_a_bridge_and_a_port_of_it() -> None:
    bridge = decode_link(body() + nla(18, nla(1, b"bridge\0") + nla(2, nla(5, u32(1)) + nla(7, u8(1)))))
    assert bridge.details == {"stp_state": 1, "vlan_filtering": 1}
    port = decode_link(body() + nla(18, nla(4, b"bridge\0") + nla(5, nla(1, u8(3)) + nla(4, u8(1)))))
    assert port.port_kind == "bridge"
    assert port.port == {"state": "forwarding", "state_index": 3, "hairpin": True}


@pytest.mark.parametrize(
    ("kind", "details", "link"),
    [
        (b"wireguard\0", b"", None),
        (b"vxlan\0", nla(2, nla(3, u32(2))), 2),
        (b"vxlan\0", nla(2, nla(1, u32(42))), None),
        # the other end may well have the same index elsewhere
        (b"veth\0", b"", 7),
    ],
)
def test_a_device_moved_elsewhere_that_names_itself(kind: bytes, details: bytes, link: int | None) -> None:
    data = body(ifindex=7) + nla(5, u32(7)) + nla(37, struct.pack("=i", 0)) + nla(18, nla(1, kind) + details)
    found = decode_link(data)
    assert (found.link, found.link_netnsid) == (link, 0)


def test_what_nobody_knows_is_told() -> None:
    info = nla(18, nla(1, b"strange\0") + nla(2, nla(1, b"\xab")) + nla(4, b"odd\0") + nla(5, nla(2, b"\xcd")))
    link = decode_link(body() + info + nla(4000, b"\xef" * 100) + nla(16, u8(99)))
    assert (link.kind, link.details, link.port) == ("strange", {}, {})
    assert link.undecoded == {"4000": "ef" * 64, "info_data/1": "ab", "info_slave_data/2": "cd"}
    assert link.operstate == "OPERSTATE(99)"


@pytest.mark.parametrize("data", [b"", body()[:-1], body() + b"\xff\xff\x03\0", body() + nla(18, b"\1\0\0\0")])
def test_lengths_that_lie_are_malformed(data: bytes) -> None:
    with pytest.raises(Malformed):
        decode_link(data)


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


def test_the_requests() -> None:
    assert request_nsid(9) == message(90, bytes(4) + nla(3, u32(9)), flags=1, sequence=0)


def test_the_answer() -> None:
    assert decode_nsid(memoryview(bytes(4) + nla(1, struct.pack("=i", 17)))) == 17
    assert decode_nsid(bytes(4) + nla(1, struct.pack("=i", -1))) == UNASSIGNED
    assert decode_nsid(bytes(4)) == UNASSIGNED


@pytest.mark.parametrize("data", [b"", bytes(4) + nla(1, b"\0\0\0"), bytes(4) + b"\1"])
def test_sizes_that_lie_are_malformed(data: bytes) -> None:
    with pytest.raises(Malformed):
        decode_nsid(data)


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
def test_sizes_of_kinds_that_lie_are_malformed(found: dict[int, bytes]) -> None:
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
