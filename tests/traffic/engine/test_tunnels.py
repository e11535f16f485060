"""Packets inside of packets, whatever holds them, and what is remembered of the way to them."""

from struct import pack
from typing import Any

import pytest

from netdiag.traffic.engine.links import decode_packet
from netdiag.traffic.engine.packet import Datagram, Segment, Undecoded
from tests.traffic.engine.frames import ethernet, ipv4, ipv6, packet, tcp, udp

FOUR, SIX = ipv4(tcp(b"hello")), ipv6(tcp(b"hello"))
FRAME = ethernet(FOUR)
OUTER: dict[str, Any] = {"source": "192.0.2.1", "destination": "192.0.2.2"}
# PPTP, with acknowledgement numbers; GRE with checksum, key and sequence; ERSPAN III with a subheader.
PPTP = pack(">HHHHII", 0x3081, 0x880B, 0, 7, 1, 1)
FULL = pack(">HHHHII", 0xB000, 0x0800, 0, 0, 0x01020304, 9)
ERSPAN_3 = pack(">HHI", 0x1000, 0x22EB, 1) + pack(">IIHBB", 0x20000000, 5, 0, 0, 1) + bytes(8)


def _gre(content: bytes) -> bytes:
    return ethernet(ipv4(content, protocol=47, **OUTER))


def _udp(content: bytes, port: int) -> bytes:
    return ethernet(ipv4(udp(content, destination=port), protocol=17, **OUTER))


CASES = {
    "mpls": (1, ethernet(pack(">II", 0x00064040, 0x00065140) + FOUR, ethertype=0x8847), b""),
    "mpls multicast": (1, ethernet(pack(">I", 0x00065140) + SIX, ethertype=0x8848), b""),
    "mpls pseudowire": (1, ethernet(pack(">II", 0x00065140, 0) + FRAME, ethertype=0x8847), b""),
    "mpls in udp": (1, _udp(pack(">I", 0x00065140) + FOUR, 6635), b""),
    "mpls in ip": (1, ethernet(ipv4(pack(">I", 0x00065140) + FOUR, protocol=137, **OUTER)), b""),
    "pppoe": (
        1,
        ethernet(pack(">HHHH", 0x1100, 5, len(FOUR) + 2, 0x21) + FOUR + b"pad", ethertype=0x8864),
        b"p\0\0\0\x05",
    ),
    "pppoe link": (51, pack(">HHHH", 0x1100, 5, len(SIX) + 2, 0x57) + SIX, b"p\0\0\0\x05"),
    "ppp": (9, b"\xff\x03\x00\x21" + FOUR, b""),
    "ppp without address": (9, b"\x00\x57" + SIX, b""),
    "ppp with a short protocol": (9, b"\x21" + FOUR, b""),
    "ppp with mpls": (9, b"\x02\x81" + pack(">I", 0x00065140) + FOUR, b""),
    "cisco hdlc": (104, b"\x0f\0\x08\0" + FOUR, b""),
    "cisco hdlc as ppp": (50, b"\x8f\0\x86\xdd" + SIX, b""),
    "gre": (1, _gre(pack(">HH", 0, 0x0800) + FOUR), b""),
    "gre with checksum, key, sequence": (1, _gre(FULL + FOUR), b"g\x01\x02\x03\x04"),
    "gre with a frame": (1, _gre(pack(">HH", 0, 0x6558) + FRAME), b""),
    "nvgre": (1, _gre(pack(">HHI", 0x2000, 0x6558, 0x000102FE) + FRAME), b"g\0\0\x01\x02"),
    "pptp": (1, _gre(PPTP + b"\xff\x03\x00\x21" + FOUR), b""),
    "erspan 1": (1, _gre(pack(">HH", 0, 0x88BE) + FRAME), b""),
    "erspan 2": (1, _gre(pack(">HHI", 0x1000, 0x88BE, 1) + bytes(8) + FRAME), b""),
    "erspan 3": (1, _gre(ERSPAN_3 + FRAME), b""),
    "vxlan": (1, _udp(pack(">II", 0x08000000, 42 << 8) + FRAME, 4789), b"x\0\0\0\x2a"),
    "vxlan of linux": (1, _udp(pack(">II", 0x08000000, 1 << 8) + FRAME, 8472), b"x\0\0\0\x01"),
    "vxlan with a group": (1, _udp(pack(">II", 0x88000005, 42 << 8) + FRAME, 4789), b"x\0\0\0\x2a"),
    "vxlan-gpe": (1, _udp(pack(">II", 0x0C000003, 42 << 8) + FRAME, 4790), b"x\0\0\0\x2a"),
    "vxlan-gpe of ip": (1, _udp(pack(">II", 0x0C000001, 42 << 8) + FOUR, 4790), b"x\0\0\0\x2a"),
    "geneve": (1, _udp(pack(">HHI", 0x0200, 0x6558, 9 << 8) + bytes(8) + FRAME, 6081), b"n\0\0\0\x09"),
    "geneve of ip": (1, _udp(pack(">HHI", 0, 0x86DD, 9 << 8) + SIX, 6081), b"n\0\0\0\x09"),
    "gtp": (1, _udp(pack(">BBHI", 0x30, 255, len(FOUR), 7) + FOUR, 2152), b""),
    "gtp extended": (
        1,
        _udp(pack(">BBHIHBB", 0x34, 255, len(SIX) + 8, 7, 0, 0, 0x85) + b"\x01\x10\x00\x00" + SIX, 2152),
        b"",
    ),
    "4in4": (1, ethernet(ipv4(FOUR, protocol=4, **OUTER)), b""),
    "6in4": (1, ethernet(ipv4(SIX, protocol=41, **OUTER)), b""),
    "4in6": (1, ethernet(ipv6(FOUR, protocol=4), ethertype=0x86DD), b""),
    "etherip": (1, ethernet(ipv4(b"\x30\0" + FRAME, protocol=97, **OUTER)), b""),
    "802.1ah": (1, ethernet(bytes(4) + FRAME, ethertype=0x88E7), b""),
    "vlan in vxlan in vlan": (
        1,
        ethernet(
            pack(">HH", 3, 0x0800)
            + _udp(pack(">II", 0x08000000, 42 << 8) + ethernet(pack(">HH", 9, 0x0800) + FOUR, ethertype=0x8100), 4789)[
                14:
            ],
            ethertype=0x8100,
        ),
        b"v\0\0\0\x03x\0\0\0\x2av\0\0\0\x09",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_innermost_segment_is_found(name: str) -> None:
    link, data, context = CASES[name]
    segment = decode_packet(packet(data, link=link))
    assert isinstance(segment, Segment), segment
    assert (bytes(segment.payload), segment.length, segment.destination_port) == (b"hello", 5, 9092)
    assert segment.context == context
    expected = decode_packet(packet(FOUR if segment.identification == 77 else SIX, link=101))
    assert isinstance(expected, Segment)
    assert segment[1:13] == expected[1:13]


@pytest.mark.parametrize("name", CASES)
def test_a_snaplen_anywhere_is_told(name: str) -> None:
    link, data, _ = CASES[name]
    trailer = len(data) - data.rindex(b"hello") - 5
    for kept in range(len(data)):
        decoded = decode_packet(packet(data[:kept], link=link, length=len(data)))
        if kept >= len(data) - trailer - len(b"hello") - 4:
            assert isinstance(decoded, Segment)
            assert decoded.length == 5
        else:
            assert isinstance(decoded, Undecoded | Datagram), kept
            # Without a whole header of the tunnel a datagram to its port is just that.
            assert isinstance(decoded, Datagram) or decoded.kind == "truncated", (kept, decoded)


@pytest.mark.parametrize(
    ("content", "port"),
    [
        (b"not vxlan at all", 4789),
        (pack(">II", 0x0C00000F, 42 << 8) + FRAME, 4790),
        (b"\xff" * 60, 6081),
        (pack(">BBHI", 0x30, 1, 0, 7), 2152),
        (b"", 4789),
        (b"\x08", 4789),
    ],
)
def test_anything_else_at_the_port_of_a_tunnel_is_udp(content: bytes, port: int) -> None:
    decoded = decode_packet(packet(_udp(content, port)))
    assert isinstance(decoded, Datagram)
    assert bytes(decoded.payload) == content


@pytest.mark.parametrize(
    ("data", "kind", "detail"),
    [
        (ethernet(pack(">I", 0x00064040) * 100, ethertype=0x8847), "limit", "more than 16 MPLS labels"),
        (ethernet(pack(">I", 0x00065140) + b"\x90" * 30, ethertype=0x8847), "not-tcp", "MPLS"),
        (ethernet(pack(">HHH", 0x1109, 0, 4) + bytes(40), ethertype=0x8864), "not-tcp", "PPPoE discovery"),
        (
            ethernet(pack(">HHHH", 0x1100, 5, 10, 0xC021) + bytes(40), ethertype=0x8864),
            "not-tcp",
            "PPP protocol 0xc021",
        ),
        (_gre(pack(">HH", 0x4000, 0x0800) + FOUR), "not-tcp", "GRE with routing"),
        (_gre(pack(">HH", 5, 0x0800) + FOUR), "not-tcp", "GRE of version 5"),
        (_gre(pack(">HHI", 0x1000, 0x22EB, 1) + bytes(10) + b"\x10\0" + FRAME), "not-tcp", "ERSPAN of frame type 4"),
        (_udp(pack(">II", 0x08000000, 42 << 8) + ethernet(bytes(28), ethertype=0x0806), 4789), "not-tcp", "ARP"),
    ],
)
def test_what_leads_nowhere_is_named(data: bytes, kind: str, detail: str) -> None:
    assert decode_packet(packet(data)) == Undecoded(kind, detail, len(data))


def test_tunnels_in_tunnels_have_an_end() -> None:
    data = FOUR
    for _ in range(60):
        data = ipv4(data, protocol=4)
    decoded = decode_packet(packet(data, link=101))
    assert isinstance(decoded, Undecoded)
    assert decoded.kind == "limit"
