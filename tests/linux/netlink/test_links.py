"""Devices from RTM_NEWLINK."""

import struct

import pytest

from netdiag.linux.link import Link
from netdiag.linux.netlink.attributes import Malformed
from netdiag.linux.netlink.links import decode_link, request_links
from tests.linux.netlink.assembling import message, nla, u8, u32


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
