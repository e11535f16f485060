"""Every link type leads to the same segment."""

from struct import pack

import pytest

from netdiag.traffic.engine.links import decode_packet
from netdiag.traffic.engine.packet import Segment, Undecoded
from tests.traffic.engine.frames import MACS, ethernet, ipv4, ipv6, packet, tcp

FOUR, SIX = ipv4(tcp(b"hello")), ipv6(tcp(b"hello"))
SLL = bytes(14)
SLL2 = pack(">IHBB", 7, 1, 0, 6) + bytes(8)
NFLOG = [b"\x02\0\0\x05", b"\x0a\0\0\x05"]
PKTAP = pack("<III24s", 108, 1, 1, b"en0") + bytes(72)
SNAP = b"\xaa\xaa\x03\0\0\0"


@pytest.mark.parametrize(
    ("link", "data"),
    [
        (0, b"\x02\0\0\0" + FOUR),
        (0, b"\0\0\0\x02" + FOUR),
        *((0, family.to_bytes(4, order) + SIX) for family in (10, 23, 24, 28, 30) for order in ("little", "big")),
        (108, b"\0\0\0\x02" + FOUR),
        (108, b"\0\0\0\x18" + SIX),
        (1, ethernet(FOUR)),
        (1, ethernet(SIX, ethertype=0x86DD)),
        (1, ethernet(b"\0\0\x08\0" + FOUR, ethertype=0x8100)),
        (1, MACS + pack(">H", len(FOUR) + 8) + SNAP + b"\x08\0" + FOUR + b"padding"),
        (12, FOUR),
        (14, SIX),
        (101, FOUR),
        (101, SIX),
        (113, SLL + b"\x08\0" + FOUR),
        (113, SLL + b"\x86\xdd" + SIX),
        (228, FOUR),
        (
            239,
            NFLOG[0]
            + pack("<HHI", 8, 1, 0)
            + pack("<HH", 9, 10)
            + b"mark\0\0\0\0"
            + pack("<HH", len(FOUR) + 4, 9)
            + FOUR,
        ),
        (239, NFLOG[1] + pack(">HHI", 8, 1, 0) + pack(">HH", len(SIX) + 4, 9) + SIX),
        (258, PKTAP + ethernet(FOUR)),
        (229, SIX),
        (276, b"\x08\0\0\0" + SLL2 + FOUR),
        (276, b"\x86\xdd\0\0" + SLL2 + SIX),
    ],
)
def test_every_link_type_leads_to_the_segment(link: int, data: bytes) -> None:
    segment = decode_packet(packet(data, link=link))
    assert isinstance(segment, Segment), segment
    assert bytes(segment.payload) == b"hello"
    assert (segment.source_port, segment.destination_port, segment.context) == (40000, 9092, b"")
    assert len(segment.source) == (4 if segment.identification == 77 else 16)
    # What stands behind the window is of no use.
    header = len(data) - len(b"hello") - (7 if data.endswith(b"padding") else 0) - 4
    for kept in range(header):
        cut = decode_packet(packet(data[:kept], link=link, length=len(data)))
        assert isinstance(cut, Undecoded), kept
        assert cut.kind in ("truncated", "not-tcp")


def test_pktap_tells_the_interface() -> None:
    segment = decode_packet(packet(PKTAP + ethernet(FOUR), link=258))
    assert isinstance(segment, Segment)
    assert segment.interface == "en0"


def test_cooked_v2_tells_the_interface() -> None:
    data = b"\x08\0\0\0" + SLL2 + FOUR
    for named, expected in (("", "7"), ("any", "any")):
        segment = decode_packet(packet(data, link=276, interface=named))
        assert isinstance(segment, Segment)
        assert segment.interface == expected


@pytest.mark.parametrize("outer", [0x8100, 0x88A8, 0x9100, 0x9200])
def test_vlans_are_kept_in_the_context(outer: int) -> None:
    tags = pack(">HH", 0xE00A, 0x8100) + pack(">HH", 20, 0x0800)
    segment = decode_packet(packet(ethernet(tags + FOUR, ethertype=outer)))
    assert isinstance(segment, Segment)
    assert segment.context == b"v\0\0\0\x0av\0\0\0\x14"


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
    ],
)
def test_what_carries_no_ip_is_named(link: int, data: bytes, kind: str, detail: str) -> None:
    assert decode_packet(packet(data, link=link)) == Undecoded(kind, detail, len(data))


def test_nesting_has_an_end() -> None:
    data = ethernet(pack(">HH", 5, 0x8100) * 300, ethertype=0x8100)
    decoded = decode_packet(packet(data))
    assert isinstance(decoded, Undecoded)
    assert decoded.kind == "limit"
