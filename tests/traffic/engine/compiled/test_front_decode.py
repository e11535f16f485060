"""The usual headers by the kernel, held against the layers in plain Python."""

from collections import defaultdict
from random import Random
from struct import pack

import pytest

from tests.traffic.engine.compiled.fronts import assert_same
from tests.traffic.engine.frames import ethernet, ipv4, ipv6, tcp
from tests.traffic.engine.nested import nested

Record = tuple[bytes, int]
SYN_OPTIONS = b"\x02\x04\x05\xb4\x01\x03\x03\x07"


def _pcap(link: int, records: list[Record]) -> bytes:
    """Records of bytes and the length on the wire."""
    made = [pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262_144, link)]
    for index, (data, length) in enumerate(records):
        made.append(pack("<IIII", 1_700_000_000 + index, index, len(data), length) + data)
    return b"".join(made)


IP = {
    "tcp": ipv4(tcp(b"payload")),
    "options of IPv4": ipv4(tcp(b"payload"), options=b"\x94\x04\0\0"),
    "options of TCP": ipv4(tcp(b"payload", options=bytes(12))),
    "SYN": ipv4(tcp(flags=2, options=SYN_OPTIONS)),
    "no total length": ipv4(tcp(b"p" * 70), total=0),
    "version 6": ipv6(tcp(b"payload")),
    "no payload length": ipv6(tcp(b"p" * 70), length=0),
}


@pytest.mark.parametrize("name", IP)
def test_what_is_usual_is_decoded_on_every_link(name: str) -> None:
    packet = IP[name]
    family, ethertype = (2, 0x0800) if packet[0] >> 4 == 4 else (10, 0x86DD)
    cooked = bytes(14) + pack(">H", ethertype)
    links = {
        1: [ethernet(packet, ethertype=ethertype), ethernet(packet, ethertype=ethertype) + bytes(6)],
        113: [cooked + packet],
        276: [pack(">HHI", ethertype, 0, index) + bytes(12) + packet for index in (3, 4, 3, 2**32 - 1)],
        0: [family.to_bytes(4, "little") + packet, family.to_bytes(4, "big") + packet],
        101: [packet],
        12: [packet],
    }
    for link, made in links.items():
        records = [(data, len(data) + more) for data in made for more in (0, 5)]
        assert assert_same(_pcap(link, records), [4096]) == (len(records), len(records))


@pytest.mark.parametrize(
    "packet",
    [
        ipv4(tcp(b"payload"), fragment=0x2000),
        ipv4(tcp(b"payload"), protocol=17),
        ipv4(tcp(b"payload"), total=39),
        ipv4(tcp(b"payload"), total=19),
        ipv4(tcp(b"payload"))[:35],
        ipv4(tcp(b"payload")[:12] + b"\x40" + tcp(b"payload")[13:]),
        ipv4(tcp(b"payload")[:12] + b"\xf0" + tcp(b"payload")[13:]),
        ipv4(tcp(b"payload"), source="10.0.0.1", destination="10.0.0.1").replace(b"\x9c\x40", b"\x23\x84"),
    ],
    ids=["fragment", "UDP", "short", "too-short", "cut", "small-offset", "large-offset", "to-itself"],
)
def test_what_is_not_usual_is_left(packet: bytes) -> None:
    data = ethernet(packet)
    assert assert_same(_pcap(1, [(data, len(data))]), [4096]) == (1, 0)


@pytest.mark.parametrize("more", [0, 1, 2**31 - 100, 2**31, 2**32 - 1])
def test_lengths_beyond_31_bits(more: int) -> None:
    data = ethernet(IP["no total length"])
    count, _ = assert_same(_pcap(1, [(data, min(2**32 - 1, len(data) + more))]), [4096])
    assert count == 1


@pytest.mark.slow
def test_layers_at_random_whole_and_damaged() -> None:
    random = Random(11)
    records: dict[int, list[Record]] = defaultdict(list)
    for _ in range(600):
        link, data = nested(random)
        for turn in range(6):
            made = bytearray(data)
            for _ in range(random.randrange(3) if turn else 0):
                made[random.randrange(min(80, len(made)))] = random.choice((0, 255, random.randrange(256)))
            kept = len(made) if random.randrange(3) else random.randrange(1, len(made) + 1)
            records[link].append((bytes(made[:kept]), random.choice((len(made), len(made), kept, 0, 1 << 20))))
    decoded = 0
    for link, each in records.items():
        decoded += assert_same(_pcap(link, each), [100_000])[1]
    assert decoded > 400
