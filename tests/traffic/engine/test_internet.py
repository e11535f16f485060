"""IPv4, IPv6, TCP, UDP, ICMP: what Linux, its offloads and snaplens make of them."""

from ipaddress import ip_address
from struct import pack

import pytest

from netdiag.traffic.engine.links import decode_packet
from netdiag.traffic.engine.packet import Datagram, Segment, Undecoded, Unreachable
from tests.traffic.engine.frames import (
    BROKER,
    BROKER6,
    CLIENT,
    CLIENT6,
    ethernet,
    ipv4,
    ipv6,
    packet,
    tcp,
    udp,
)


def _segment(data: bytes, *, length: int | None = None, link: int = 1) -> Segment:
    decoded = decode_packet(packet(data, length=length, link=link))
    assert isinstance(decoded, Segment), decoded
    return decoded


def _undecoded(data: bytes, *, length: int | None = None) -> Undecoded:
    decoded = decode_packet(packet(data, length=length))
    assert isinstance(decoded, Undecoded), decoded
    assert decoded.bytes == len(data)
    return decoded


def test_a_segment_says_all_that_is_needed() -> None:
    data = ethernet(ipv4(tcp(b"hello", sequence=2**32 - 1, acknowledgement=99, flags=0x19, window=17)))
    segment = decode_packet(packet(data, interface="veth1"))
    assert isinstance(segment, Segment)
    assert segment == Segment(
        time=5,
        source=ip_address(CLIENT).packed,
        destination=ip_address(BROKER).packed,
        source_port=40000,
        destination_port=9092,
        sequence=2**32 - 1,
        acknowledgement=99,
        flags=0x19,
        window=17,
        payload=segment.payload,
        length=5,
        identification=77,
        window_scale=-1,
        context=b"",
        interface="veth1",
        number=3,
        file=1,
    )
    assert bytes(segment.payload) == b"hello"


def test_padding_of_the_link_is_no_payload() -> None:
    for payload in (b"", b"hello"):
        segment = _segment(ethernet(ipv4(tcp(payload))) + b"\0" * 20)
        assert (bytes(segment.payload), segment.length) == (payload, len(payload))
        segment = _segment(ethernet(ipv6(tcp(payload)), ethertype=0x86DD) + b"\0" * 20)
        assert (bytes(segment.payload), segment.length) == (payload, len(payload))


def test_a_length_of_zero_is_that_of_the_frame() -> None:
    payload = b"x" * 70_000
    segment = _segment(ethernet(ipv4(tcp(payload), total=0)))
    assert (len(segment.payload), segment.length) == (70_000, 70_000)
    segment = _segment(ethernet(ipv6(tcp(payload), length=0), ethertype=0x86DD)[:200], length=70_074)
    assert (len(segment.payload), segment.length) == (200 - 74, 70_000)


def test_a_jumbogram_has_its_length_in_an_option() -> None:
    payload = b"x" * 70_000
    for padding, jumbo_first in ((b"", True), (b"\x01\x00", False)):
        jumbo = b"\xc2\x04" + pack(">I", 8 + len(padding) * 4 + 20 + len(payload))
        options = jumbo + b"\0" * (4 * len(padding)) if jumbo_first else padding + b"\0\0\0\0" + jumbo + b"\0\0"
        extension = bytes([6, len(padding) * 4 // 8]) + options
        data = ethernet(ipv6(extension + tcp(payload), protocol=0, length=0), ethertype=0x86DD)
        segment = _segment(data + b"padding")
        assert segment.length == 70_000


def test_a_snaplen_cuts_the_payload_and_not_its_length() -> None:
    data = ethernet(ipv4(tcp(b"y" * 1000)))
    for kept in (50, 53, 54, 55, 96, 1053):
        segment = _segment(data[:kept], length=len(data))
        assert (len(segment.payload), segment.length) == (max(0, kept - 54), 1000)


@pytest.mark.parametrize(("kept", "what"), [(10, "Ethernet header"), (33, "IPv4 header"), (49, "TCP header")])
def test_a_snaplen_that_cuts_a_header_is_told(kept: int, what: str) -> None:
    data = ethernet(ipv4(tcp(b"y" * 1000)))
    assert _undecoded(data[:kept], length=len(data))[:2] == ("truncated", what)
    # Without a length on the wire only a sound header tells that more was there.
    assert _undecoded(data[:kept])[:2] == ("damage" if kept < 34 else "truncated", what)


def test_options_cut_off_by_a_snaplen_are_unknown() -> None:
    data = ethernet(ipv4(tcp(flags=2, options=b"\x02\x04\x05\xb4\x01\x03\x03\x07")))
    assert _segment(data).window_scale == 7
    cut = _segment(data[:60], length=len(data))
    assert (cut.window_scale, cut.length, len(cut.payload)) == (-1, 0, 0)


@pytest.mark.parametrize(
    ("options", "scale"),
    [
        (b"", -1),
        (b"\x03\x03\x00", 0),
        (b"\x03\x03\xff", 14),
        (b"\x02\x04\x05\xb4\x04\x02\x08\x0a" + bytes(8) + b"\x01\x03\x03\x09", 9),
        (b"\x00\x03\x03\x09", -1),
        (b"\x02\x00\x03\x03\x09", 9),
        (b"\x05\xff\x03\x03\x09", -1),
        (b"\x01\x01\x01\x03", -1),
    ],
)
def test_options_of_a_handshake(options: bytes, scale: int) -> None:
    assert _segment(ethernet(ipv4(tcp(flags=0x12, options=options)))).window_scale == scale
    assert _segment(ethernet(ipv4(tcp(flags=0x10, options=options)))).window_scale == -1


def test_options_of_ipv4_are_passed_over() -> None:
    segment = _segment(ethernet(ipv4(tcp(b"hello"), options=b"\x94\x04\0\0")))
    assert bytes(segment.payload) == b"hello"


def test_a_frame_shorter_than_its_sound_header_says_was_cut() -> None:
    """Tools that cut packets and call what is left the whole packet; a header with a wrong checksum lies itself."""
    data = ethernet(ipv4(tcp(b"z" * 500)))[:100]
    segment = _segment(data)
    assert (len(segment.payload), segment.length) == (46, 500)
    lying = bytearray(data)
    lying[16:18] = b"\x7f\xff"
    segment = _segment(bytes(lying))
    assert (len(segment.payload), segment.length) == (46, 46)


@pytest.mark.parametrize("fragment", [0x2000, 0x0001, 0x2010, 0x1FFF])
def test_fragments_are_counted(fragment: int) -> None:
    assert _undecoded(ethernet(ipv4(tcp(b"a" * 64), fragment=fragment))).kind == "fragment"
    extension = bytes([6, 0]) + pack(">H", (fragment & 0x1FFF) << 3 | fragment >> 13) + bytes(4)
    assert _undecoded(ethernet(ipv6(extension + tcp(), protocol=44), ethertype=0x86DD)).kind == "fragment"


def test_extension_headers_are_passed_over() -> None:
    routing = bytes([60, 1]) + bytes(14)
    options = bytes([44, 0]) + bytes(6)
    whole = bytes([51, 0]) + bytes(6)
    signed = bytes([6, 4]) + bytes(22)
    data = ethernet(ipv6(routing + options + whole + signed + tcp(b"hello"), protocol=43), ethertype=0x86DD)
    segment = _segment(data)
    assert bytes(segment.payload) == b"hello"
    assert (segment.source, segment.identification) == (ip_address(CLIENT6).packed, -1)


def test_extension_headers_have_an_end() -> None:
    data = ethernet(ipv6((bytes([60, 0]) + bytes(6)) * 100 + tcp(), protocol=60), ethertype=0x86DD)
    assert _undecoded(data).kind == "limit"


def test_lengths_that_contradict_each_other_are_damage() -> None:
    assert _undecoded(ethernet(ipv4(tcp(b"hello"), total=19))).kind == "damage"
    assert _undecoded(ethernet(ipv4(tcp(b"hello"), total=39))).kind == "damage"
    short = bytearray(ethernet(ipv4(tcp(b"hello"))))
    short[46] = 0x40
    assert _undecoded(bytes(short))[:2] == ("damage", "TCP header")
    long = bytearray(ethernet(ipv4(tcp(b"hello"))))
    long[46] = 0xF0
    assert _undecoded(bytes(long))[:2] == ("damage", "TCP header")


def test_udp_is_kept_for_its_dns() -> None:
    decoded = decode_packet(packet(ethernet(ipv4(udp(b"question"), protocol=17)) + b"padding"))
    assert isinstance(decoded, Datagram)
    assert (bytes(decoded.payload), decoded.source_port, decoded.destination_port) == (b"question", 40000, 53)
    assert decoded.destination == ip_address(BROKER).packed


@pytest.mark.parametrize(("kind", "code"), [(3, 3), (3, 4), (11, 0), (12, 0), (4, 0)])
def test_an_icmp_error_tells_whose_segment_it_is_about(kind: int, code: int) -> None:
    quoted = ipv4(tcp(b"a" * 100))[:28]
    data = ethernet(ipv4(bytes([kind, code]) + bytes(6) + quoted, protocol=1, source="10.0.0.1", destination=CLIENT))
    assert decode_packet(packet(data)) == Unreachable(
        time=5,
        reporter=ip_address("10.0.0.1").packed,
        source=ip_address(CLIENT).packed,
        destination=ip_address(BROKER).packed,
        source_port=40000,
        destination_port=9092,
        type=kind,
        code=code,
        number=3,
        file=1,
    )


def test_an_icmpv6_error_tells_whose_segment_it_is_about() -> None:
    quoted = ipv6(tcp(b"a" * 100))[:60]
    data = ethernet(ipv6(bytes([1, 4]) + bytes(6) + quoted, protocol=58, source="fd00::1"), ethertype=0x86DD)
    decoded = decode_packet(packet(data))
    assert isinstance(decoded, Unreachable)
    assert decoded.destination == ip_address(BROKER6).packed
    assert (decoded.reporter, decoded.source_port, decoded.type) == (ip_address("fd00::1").packed, 40000, 1)


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
    assert _undecoded(ethernet(ipv4(message, protocol=1))).kind == "not-tcp"


def test_other_protocols_are_named() -> None:
    assert _undecoded(ethernet(ipv4(b"x" * 30, protocol=132))).detail == "SCTP"
    assert _undecoded(ethernet(ipv4(b"x" * 30, protocol=200))).detail == "IP protocol 200"
