"""Every link, tunnel and header leads to the segment in it; what leads nowhere is counted, and says what it was."""

from collections.abc import Sequence
from struct import pack
from typing import Any

import pytest

from tests.native.conversations import ASK, TOLD
from tests.native.files import START, enhanced, interface, pcap, section
from tests.native.packets import (
    ACK,
    BROKER,
    BROKER6,
    CLIENT,
    CLIENT6,
    MACS,
    SYN,
    TcpConnection,
    ethernet,
    ipv4,
    ipv6,
    tcp,
    udp,
)
from tests.native.reading import rows_of_bytes

FOUR, SIX = ipv4(tcp(b"hello")), ipv6(tcp(b"hello"))
FRAME = ethernet(FOUR)
SLL = bytes(14)
SLL2 = pack(">IHBB", 7, 1, 0, 6) + bytes(8)
NFLOG = [b"\x02\0\0\x05", b"\x0a\0\0\x05"]
PKTAP = pack("<III24s", 108, 1, 1, b"en0") + bytes(72)
SNAP = b"\xaa\xaa\x03\0\0\0"
OUTER: dict[str, Any] = {"source": "192.0.2.1", "destination": "192.0.2.2"}
# PPTP, with acknowledgement numbers; GRE with checksum, key and sequence; ERSPAN III with a subheader.
PPTP = pack(">HHHHII", 0x3081, 0x880B, 0, 7, 1, 1)
FULL_GRE = pack(">HHHHII", 0xB000, 0x0800, 0, 0, 0x01020304, 9)
ERSPAN_3 = pack(">HHI", 0x1000, 0x22EB, 1) + pack(">IIHBB", 0x20000000, 5, 0, 0, 1) + bytes(8)


def _gre(content: bytes) -> bytes:
    return ethernet(ipv4(content, protocol=47, **OUTER))


def _udp(content: bytes, port: int) -> bytes:
    return ethernet(ipv4(udp(content, destination=port), protocol=17, **OUTER))


LINKS: dict[str, tuple[int, bytes]] = {
    "loopback, ipv4": (0, b"\x02\0\0\0" + FOUR),
    "loopback, ipv4, big-endian": (0, b"\0\0\0\x02" + FOUR),
    **{
        f"loopback, ipv6 as {family}, {order}-endian": (0, family.to_bytes(4, order) + SIX)
        for family in (10, 23, 24, 28, 30)
        for order in ("little", "big")
    },
    "loopback of OpenBSD, ipv4": (108, b"\0\0\0\x02" + FOUR),
    "loopback of OpenBSD, ipv6": (108, b"\0\0\0\x18" + SIX),
    "ethernet, ipv4": (1, FRAME),
    "ethernet, ipv6": (1, ethernet(SIX, ethertype=0x86DD)),
    "ethernet, a priority tag": (1, ethernet(b"\0\0\x08\0" + FOUR, ethertype=0x8100)),
    "ethernet, snap": (1, MACS + pack(">H", len(FOUR) + 8) + SNAP + b"\x08\0" + FOUR + b"padding"),
    "raw, ipv4": (12, FOUR),
    "raw, ipv6": (14, SIX),
    "raw ip, ipv4": (101, FOUR),
    "raw ip, ipv6": (101, SIX),
    "cooked, ipv4": (113, SLL + b"\x08\0" + FOUR),
    "cooked, ipv6": (113, SLL + b"\x86\xdd" + SIX),
    "ipv4": (228, FOUR),
    "ipv6": (229, SIX),
    "nflog, ipv4": (
        239,
        NFLOG[0] + pack("<HHI", 8, 1, 0) + pack("<HH", 9, 10) + b"mark\0\0\0\0" + pack("<HH", len(FOUR) + 4, 9) + FOUR,
    ),
    "nflog, ipv6": (239, NFLOG[1] + pack(">HHI", 8, 1, 0) + pack(">HH", len(SIX) + 4, 9) + SIX),
    "pktap": (258, PKTAP + FRAME),
    "cooked v2, ipv4": (276, b"\x08\0\0\0" + SLL2 + FOUR),
    "cooked v2, ipv6": (276, b"\x86\xdd\0\0" + SLL2 + SIX),
}
TUNNELS: dict[str, tuple[int, bytes]] = {
    "vlan": (1, ethernet(pack(">HH", 0xE00A, 0x0800) + FOUR, ethertype=0x8100)),
    "vlan in vlan": (1, ethernet(pack(">HHHH", 0xE00A, 0x8100, 20, 0x0800) + FOUR, ethertype=0x88A8)),
    "mpls": (1, ethernet(pack(">II", 0x00064040, 0x00065140) + FOUR, ethertype=0x8847)),
    "mpls multicast": (1, ethernet(pack(">I", 0x00065140) + SIX, ethertype=0x8848)),
    "mpls pseudowire": (1, ethernet(pack(">II", 0x00065140, 0) + FRAME, ethertype=0x8847)),
    "mpls in udp": (1, _udp(pack(">I", 0x00065140) + FOUR, 6635)),
    "mpls in ip": (1, ethernet(ipv4(pack(">I", 0x00065140) + FOUR, protocol=137, **OUTER))),
    "pppoe": (1, ethernet(pack(">HHHH", 0x1100, 5, len(FOUR) + 2, 0x21) + FOUR + b"pad", ethertype=0x8864)),
    "pppoe link": (51, pack(">HHHH", 0x1100, 5, len(SIX) + 2, 0x57) + SIX),
    "ppp": (9, b"\xff\x03\x00\x21" + FOUR),
    "ppp without address": (9, b"\x00\x57" + SIX),
    "ppp with a short protocol": (9, b"\x21" + FOUR),
    "ppp with mpls": (9, b"\x02\x81" + pack(">I", 0x00065140) + FOUR),
    "cisco hdlc": (104, b"\x0f\0\x08\0" + FOUR),
    "cisco hdlc as ppp": (50, b"\x8f\0\x86\xdd" + SIX),
    "gre": (1, _gre(pack(">HH", 0, 0x0800) + FOUR)),
    "gre with checksum, key, sequence": (1, _gre(FULL_GRE + FOUR)),
    "gre with a frame": (1, _gre(pack(">HH", 0, 0x6558) + FRAME)),
    "nvgre": (1, _gre(pack(">HHI", 0x2000, 0x6558, 0x000102FE) + FRAME)),
    "pptp": (1, _gre(PPTP + b"\xff\x03\x00\x21" + FOUR)),
    "erspan 1": (1, _gre(pack(">HH", 0, 0x88BE) + FRAME)),
    "erspan 2": (1, _gre(pack(">HHI", 0x1000, 0x88BE, 1) + bytes(8) + FRAME)),
    "erspan 3": (1, _gre(ERSPAN_3 + FRAME)),
    "vxlan": (1, _udp(pack(">II", 0x08000000, 42 << 8) + FRAME, 4789)),
    "vxlan of linux": (1, _udp(pack(">II", 0x08000000, 1 << 8) + FRAME, 8472)),
    "vxlan with a group": (1, _udp(pack(">II", 0x88000005, 42 << 8) + FRAME, 4789)),
    "vxlan-gpe": (1, _udp(pack(">II", 0x0C000003, 42 << 8) + FRAME, 4790)),
    "vxlan-gpe of ip": (1, _udp(pack(">II", 0x0C000001, 42 << 8) + FOUR, 4790)),
    "geneve": (1, _udp(pack(">HHI", 0x0200, 0x6558, 9 << 8) + bytes(8) + FRAME, 6081)),
    "geneve of ip": (1, _udp(pack(">HHI", 0, 0x86DD, 9 << 8) + SIX, 6081)),
    "gtp": (1, _udp(pack(">BBHI", 0x30, 255, len(FOUR), 7) + FOUR, 2152)),
    "gtp extended": (
        1,
        _udp(pack(">BBHIHBB", 0x34, 255, len(SIX) + 8, 7, 0, 0, 0x85) + b"\x01\x10\x00\x00" + SIX, 2152),
    ),
    "4in4": (1, ethernet(ipv4(FOUR, protocol=4, **OUTER))),
    "6in4": (1, ethernet(ipv4(SIX, protocol=41, **OUTER))),
    "4in6": (1, ethernet(ipv6(FOUR, protocol=4), ethertype=0x86DD)),
    "etherip": (1, ethernet(ipv4(b"\x30\0" + FRAME, protocol=97, **OUTER))),
    "802.1ah": (1, ethernet(bytes(4) + FRAME, ethertype=0x88E7)),
    "vlan in vxlan in vlan": (
        1,
        ethernet(
            pack(">HH", 3, 0x0800)
            + _udp(pack(">II", 0x08000000, 42 << 8) + ethernet(pack(">HH", 9, 0x0800) + FOUR, ethertype=0x8100), 4789)[
                14:
            ],
            ethertype=0x8100,
        ),
    ),
}


def _file(packets: Sequence[tuple[bytes, int]], link: int, name: str = "") -> bytes:
    """A capture of packets with their lengths on the wire."""
    named = pack("<HH", 2, len(name)) + name.encode() + bytes(-len(name) % 4) + bytes(4) if name else b""
    blocks = (enhanced(START // 1000 + at, data, wire=wire) for at, (data, wire) in enumerate(packets))
    return section() + interface(link=link, options=named) + b"".join(blocks)


def _segments(*packets: bytes, length: int | None = None, link: int = 1, name: str = "") -> Sequence[Any]:
    """The segments in packets, which on the wire had this length."""
    made = [(data, len(data) if length is None else length) for data in packets]
    return rows_of_bytes(_file(made, link, name), tables=frozenset({"segments"}))["segments"]


def _segment(data: bytes, *, length: int | None = None, link: int = 1) -> Any:
    (segment,) = _segments(data, length=length, link=link)
    return segment


def _loss(data: bytes, *, length: int | None = None, link: int = 1) -> tuple[str, str]:
    """Why a packet is none, in two words; all of it is lost."""
    wire = len(data) if length is None else length
    (loss,) = rows_of_bytes(_file([(data, wire)], link), tables=frozenset({"losses"}))["losses"]
    assert (loss.bytes, loss.times, loss.connection) == (len(data), 1, None)
    return loss.kind, loss.detail


@pytest.mark.parametrize("name", LINKS | TUNNELS)
def test_the_innermost_segment_is_found_wherever_the_packet_is_cut(name: str) -> None:
    link, data = (LINKS | TUNNELS)[name]
    end = data.rindex(b"hello") + len(b"hello")
    ends = (f"{CLIENT}:40000", f"{BROKER}:9092") if FOUR in data else (f"[{CLIENT6}]:40000", f"[{BROKER6}]:9092")
    found = _segments(*(data[:kept] for kept in range(len(data) + 1)), length=len(data), link=link)
    # What stands behind the window is of no use.
    window = end - len(b"hello") - 4
    assert [row.number - 1 for row in found] == list(range(window, len(data) + 1))
    for row in found:
        assert (row.source, row.destination, row.length) == (*ends, 5)
        assert (row.sequence, row.acknowledgement, row.flags, row.window) == (1, 2, 0x18, 512)
        assert row.captured == min(5, max(0, row.number - 1 - window - 4))


@pytest.mark.parametrize("name", LINKS | TUNNELS)
def test_a_header_that_was_cut_is_counted(name: str) -> None:
    link, data = (LINKS | TUNNELS)[name]
    window = data.rindex(b"hello") - 4
    cut = [(data[:kept], len(data)) for kept in range(window)]
    losses = rows_of_bytes(_file(cut, link), tables=frozenset({"losses"}))["losses"]
    assert sum(loss.times for loss in losses) == len(cut)
    # Without a whole header of the tunnel a datagram to its port is just that.
    assert {loss.kind for loss in losses} <= {"truncated", "not-tcp"}


def test_what_is_no_tunnel_at_its_port_is_udp() -> None:
    for content, port in (
        (b"not vxlan at all", 4789),
        (pack(">II", 0x0C00000F, 42 << 8) + FRAME, 4790),
        (b"\xff" * 60, 6081),
        (pack(">BBHI", 0x30, 1, 0, 7), 2152),
        (b"", 4789),
        (b"\x08", 4789),
    ):
        assert _loss(_udp(content, port)) == ("not-tcp", "UDP"), content


def _four_in_four(depth: int) -> bytes:
    data = FOUR
    for _ in range(depth):
        data = ipv4(data, protocol=4)
    return data


def _with_offset(words: int) -> bytes:
    """A TCP header that says another length of itself."""
    data = bytearray(ethernet(ipv4(tcp(b"hello"))))
    data[46] = words << 4
    return bytes(data)


@pytest.mark.parametrize(
    ("link", "data", "kind", "detail"),
    [
        (105, bytes(60), "unsupported-link", "link type 105"),
        (1, ethernet(bytes(28), ethertype=0x0806), "not-tcp", "ARP"),
        (1, ethernet(bytes(28), ethertype=0xBEEF), "not-tcp", "EtherType 0xbeef"),
        (1, ethernet(bytes(46), ethertype=38), "not-tcp", "LLC"),
        (0, b"\0\0\0\x63" + FOUR, "not-tcp", "loopback of another address family"),
        (239, NFLOG[0] + pack("<HHI", 8, 1, 0), "not-tcp", "NFLOG"),
        (239, NFLOG[0] + pack("<HH", 0, 1) * 90, "not-tcp", "NFLOG"),
        (258, PKTAP[:8] + pack("<I", 258) + PKTAP[12:], "damage", "PKTAP header"),
        (101, b"\x50" + bytes(40), "not-tcp", "raw IP of version 5"),
        (113, SLL + b"\0\x04" + bytes(40), "not-tcp", "LLC"),
        (1, ethernet(pack(">I", 0x00065140) + b"\x90" * 30, ethertype=0x8847), "not-tcp", "MPLS"),
        (1, ethernet(pack(">HHH", 0x1109, 0, 4) + bytes(40), ethertype=0x8864), "not-tcp", "PPPoE discovery"),
        (1, ethernet(pack(">HHHH", 0x1100, 5, 10, 0xC021) + bytes(40), ethertype=0x8864), "not-tcp", None),
        (1, _gre(pack(">HH", 0x4000, 0x0800) + FOUR), "not-tcp", "GRE with routing"),
        (1, _gre(pack(">HH", 5, 0x0800) + FOUR), "not-tcp", "GRE of version 5"),
        (1, _gre(pack(">HHI", 0x1000, 0x22EB, 1) + bytes(10) + b"\x10\0" + FRAME), "not-tcp", None),
        (1, _udp(pack(">II", 0x08000000, 42 << 8) + ethernet(bytes(28), ethertype=0x0806), 4789), "not-tcp", "ARP"),
        (1, ethernet(ipv4(b"x" * 30, protocol=132)), "not-tcp", "SCTP"),
        (1, ethernet(ipv4(b"x" * 30, protocol=200)), "not-tcp", "IP protocol 200"),
        # Headers that are nested without end.
        (1, ethernet(pack(">HH", 5, 0x8100) * 300, ethertype=0x8100), "limit", None),
        (1, ethernet(pack(">I", 0x00064040) * 100, ethertype=0x8847), "limit", None),
        (101, _four_in_four(60), "limit", None),
        (1, ethernet(ipv6((bytes([60, 0]) + bytes(6)) * 100 + tcp(), protocol=60), ethertype=0x86DD), "limit", None),
        # Lengths that contradict each other.
        (1, ethernet(ipv4(tcp(b"hello"), total=19)), "damage", None),
        (1, ethernet(ipv4(tcp(b"hello"), total=39)), "damage", None),
        (1, _with_offset(4), "damage", "TCP header"),
        (1, _with_offset(15), "damage", "TCP header"),
    ],
)
def test_what_carries_no_segment_is_named(link: int, data: bytes, kind: str, detail: str | None) -> None:
    found = _loss(data, link=link)
    assert found == (kind, detail if detail is not None else found[1])


@pytest.mark.parametrize("fragment", [0x2000, 0x2001, 0x0007])
def test_fragments_are_counted(fragment: int) -> None:
    assert _loss(ethernet(ipv4(tcp(b"hello"), fragment=fragment)))[0] == "fragment"
    extension = bytes([6, 0]) + pack(">HI", 8 if fragment & 0x1FFF else 1, 1)
    assert _loss(ethernet(ipv6(extension + tcp(), protocol=44), ethertype=0x86DD))[0] == "fragment"


def test_padding_of_the_link_is_no_payload() -> None:
    for payload in (b"", b"hello"):
        for data in (ethernet(ipv4(tcp(payload))), ethernet(ipv6(tcp(payload)), ethertype=0x86DD)):
            segment = _segment(data + bytes(20))
            assert segment.captured == segment.length == len(payload)


def test_a_length_of_zero_is_that_of_the_frame() -> None:
    payload = b"x" * 70_000
    segment = _segment(ethernet(ipv4(tcp(payload), total=0)))
    assert segment.captured == segment.length == 70_000
    segment = _segment(ethernet(ipv6(tcp(payload), length=0), ethertype=0x86DD)[:200], length=70_074)
    assert (segment.captured, segment.length) == (200 - 74, 70_000)


def test_a_jumbogram_has_its_length_in_an_option() -> None:
    payload = b"x" * 70_000
    for padding, jumbo_first in ((b"", True), (b"\x01\x00", False)):
        jumbo = b"\xc2\x04" + pack(">I", 8 + len(padding) * 4 + 20 + len(payload))
        options = jumbo + bytes(4 * len(padding)) if jumbo_first else padding + bytes(4) + jumbo + bytes(2)
        extension = bytes([6, len(padding) * 4 // 8]) + options
        data = ethernet(ipv6(extension + tcp(payload), protocol=0, length=0), ethertype=0x86DD)
        assert _segment(data + b"padding").length == 70_000


@pytest.mark.parametrize(("kept", "what"), [(10, "Ethernet header"), (33, "IPv4 header"), (49, "TCP header")])
def test_a_snaplen_that_cuts_a_header_is_told(kept: int, what: str) -> None:
    data = ethernet(ipv4(tcp(b"y" * 1000)))
    assert _loss(data[:kept], length=len(data)) == ("truncated", what)
    # Without a length on the wire only a sound header tells that more was there.
    assert _loss(data[:kept]) == ("damage" if kept < 34 else "truncated", what)


def test_a_frame_shorter_than_its_sound_header_says_was_cut() -> None:
    """Tools that cut packets and call what is left the whole packet; a header with a wrong checksum lies itself."""
    data = ethernet(ipv4(tcp(b"z" * 500)))[:100]
    segment = _segment(data)
    assert (segment.captured, segment.length) == (46, 500)
    wrong = bytearray(data)
    wrong[24] ^= 1
    segment = _segment(bytes(wrong))
    assert (segment.captured, segment.length) == (46, 46)


def test_options_and_extensions_are_passed_over() -> None:
    assert _segment(ethernet(ipv4(tcp(b"hello"), options=b"\x94\x04\0\0"))).length == 5
    assert _segment(ethernet(ipv4(tcp(b"hello", options=b"\x01\x01\x08\x0a" + bytes(8))))).length == 5
    routing = bytes([60, 1]) + bytes(14)
    options = bytes([44, 0]) + bytes(6)
    whole = bytes([51, 0]) + bytes(6)
    signed = bytes([6, 4]) + bytes(22)
    data = ethernet(ipv6(routing + options + whole + signed + tcp(b"hello"), protocol=43), ethertype=0x86DD)
    assert (_segment(data).source, _segment(data).length) == (f"[{CLIENT6}]:40000", 5)


def test_the_interface_is_named() -> None:
    cooked = b"\x08\0\0\0" + SLL2 + FOUR
    for data, link, expected in ((FRAME, 1, ""), (PKTAP + FRAME, 258, "en0"), (cooked, 276, "7")):
        (segment,) = rows_of_bytes(pcap([(START, data)], link=link), tables=frozenset({"segments"}))["segments"]
        assert segment.interface == expected
    for data, link, name in ((FRAME, 1, "veth1"), (cooked, 276, "any")):
        (segment,) = _segments(data, link=link, name=name)
        assert segment.interface == name


def _in_vxlan(number: int, data: bytes) -> bytes:
    return _udp(pack(">II", 0x08000000, number << 8) + data, 4789)


def _in_vlan(number: int, data: bytes) -> bytes:
    return data[:12] + pack(">HH", 0x8100, number) + data[12:]


def _in_gre(number: int, data: bytes) -> bytes:
    return _gre(pack(">HHI", 0x2000, 0x6558, number << 8) + data)


def _in_geneve(number: int, data: bytes) -> bytes:
    return _udp(pack(">HHI", 0, 0x6558, number << 8) + data, 6081)


def _in_pppoe(number: int, data: bytes) -> bytes:
    return ethernet(pack(">HHHH", 0x1100, number, len(data) - 12, 0x21) + data[14:], ethertype=0x8864)


@pytest.mark.parametrize("inside", [_in_vlan, _in_vxlan, _in_gre, _in_geneve, _in_pppoe])
def test_the_same_ends_in_two_networks_are_two_connections(inside: Any) -> None:
    packets = []
    for number in (1, 2):
        sequences = (1000 * number, 5_000_000 * number)
        talk = TcpConnection(sequences=sequences, start=number).open().ask(ASK).answer(TOLD).packets
        packets += [(packet.time, inside(number, packet.data)) for packet in talk]
    for several, connections in ((packets, 2), ([(time, inside(1, FRAME)) for time, _ in packets], 1)):
        rows = rows_of_bytes(pcap(sorted(several), nanoseconds=True))
        assert len(rows["connections"]) == connections
        assert [row.outcome for row in rows["exchanges"]] == ["answered"] * (2 if connections == 2 else 0)


@pytest.mark.parametrize(("kind", "code"), [(3, 3), (3, 4), (11, 0), (12, 0), (4, 0)])
def test_an_icmp_error_is_about_the_connection_that_it_quotes(kind: int, code: int) -> None:
    syn = ipv4(tcp(flags=SYN, sequence=9))
    told = ipv4(bytes([kind, code]) + bytes(6) + syn[:28], protocol=1, source="10.0.0.1", destination=CLIENT)
    rows = rows_of_bytes(pcap([(START, ethernet(syn)), (START + 5000, ethernet(told))]))
    assert [row.opening for row in rows["connections"]] == ["unreachable"]
    assert rows["losses"] == []


def test_an_icmpv6_error_is_about_the_connection_that_it_quotes() -> None:
    syn = ipv6(tcp(flags=SYN, sequence=9))
    told = ipv6(bytes([1, 4]) + bytes(6) + syn[:60], protocol=58, source="fd00::1", destination=CLIENT6)
    packets = [(START + at, ethernet(data, ethertype=0x86DD)) for at, data in enumerate((syn, told))]
    assert [row.opening for row in rows_of_bytes(pcap(packets))["connections"]] == ["unreachable"]


@pytest.mark.parametrize(
    "message",
    [
        bytes([8, 0]) + bytes(20),
        bytes([3, 3]) + bytes(6),
        bytes([3, 3]) + bytes(6) + ipv4(udp(b"dns"), protocol=17),
        bytes([3, 3]) + bytes(6) + ipv4(tcp(), fragment=5),
        bytes([3, 3]) + bytes(6) + ipv4(tcp())[:22],
        bytes([3, 3]) + bytes(6) + b"\xff" * 60,
    ],
)
def test_other_icmp_is_not_tcp(message: bytes) -> None:
    assert _loss(ethernet(ipv4(message, protocol=1)))[0] == "not-tcp"


def test_an_opening_that_comes_to_something_is_not_unreachable() -> None:
    talk = TcpConnection(CLIENT + ":40000", BROKER + ":9092")
    talk.send(0, flags=SYN)
    quoted = talk.packets[0].data[14:42]
    error = ethernet(ipv4(bytes([3, 1]) + bytes(6) + quoted, protocol=1, source="10.0.0.1", destination=CLIENT))
    talk.send(1, flags=SYN | ACK).send(0)
    packets = [(packet.time, packet.data) for packet in talk.packets]
    rows = rows_of_bytes(pcap([packets[0], (packets[0][0] + 1000, error), *packets[1:]], nanoseconds=True))
    assert [row.opening for row in rows["connections"]] == ["complete"]
