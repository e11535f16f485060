"""Parts of captures: boundaries where packets begin, whatever lies in the packets."""

from dataclasses import dataclass
from itertools import pairwise
from random import Random
from struct import pack

import pytest

from netdiag.traffic.engine.splitting import Part, parts
from tests.traffic.engine.capture_files import START, block, enhanced, interface, option, pcap, section

MILLISECOND = 1_000_000


@dataclass
class Memory:
    """A file, and how much of it was read."""

    data: bytes
    taken: int = 0

    @property
    def size(self) -> int:
        return len(self.data)

    def read(self, at: int, count: int) -> bytes:
        self.taken += count
        return self.data[at : at + count]


def _contents(random: Random, size: int, *, largest: int = 3000) -> list[bytes]:
    made: list[bytes] = []
    left = size
    while left > 0:
        made.append(random.randbytes(random.choice((random.randrange(1, 80), random.randrange(1, largest)))))
        left -= len(made[-1])
    return made


def _pcap(contents: list[bytes], *, order: str = "<", modified: bool = False, nanoseconds: bool = False) -> bytes:
    records = ((START + index * MILLISECOND, data) for index, data in enumerate(contents))
    return pcap(records, order=order, modified=modified, nanoseconds=nanoseconds)


def _pcapng(contents: list[bytes], *, order: str = "<") -> bytes:
    head = section(order=order) + interface(order=order, options=option(2, b"eth0", order=order))
    packets = (enhanced(START // 1000 + index, data, order=order) for index, data in enumerate(contents))
    return head + b"".join(packets)


def _record_begins(
    data: bytes, contents: list[bytes], head: int, header: int, *, pad: int = 1, tail: int = 0
) -> set[int]:
    begins, at = set(), head
    for each in contents:
        begins.add(at)
        at += header + len(each) + -len(each) % pad + tail
    assert at == len(data)
    return begins


def _assert_parts(found: tuple[Part, ...], data: bytes, begins: set[int], context: bytes, size: int) -> None:
    assert len(found) >= len(data) // (3 * size + 600_000)
    assert (found[0].begin, found[-1].end) == (0, len(data))
    assert found[0].context == b""
    for one, following in pairwise(found):
        assert one.end == following.begin
        assert following.begin in begins
        assert following.context == context


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(("modified", "nanoseconds"), [(False, False), (False, True), (True, False)])
def test_parts_of_pcap_files_begin_with_records(order: str, modified: bool, nanoseconds: bool) -> None:
    contents = _contents(Random(1), 2_000_000)
    data = _pcap(contents, order=order, modified=modified, nanoseconds=nanoseconds)
    content = Memory(data)
    begins = _record_begins(data, contents, 24, 24 if modified else 16)
    _assert_parts(parts(content, 200_000), data, begins, data[:24], 200_000)


@pytest.mark.parametrize("order", ["<", ">"])
def test_parts_of_pcapng_files_begin_with_packets(order: str) -> None:
    contents = _contents(Random(2), 3_000_000)
    data = _pcapng(contents, order=order)
    head = len(_pcapng([], order=order))
    begins = _record_begins(data, contents, head, 28, pad=4, tail=4)
    _assert_parts(parts(Memory(data), 300_000), data, begins, data[:head], 300_000)


def test_captures_in_packets_are_not_taken_for_the_capture() -> None:
    """A broker's topic carries captures, in packets as large as there are."""
    random = Random(3)
    inner = [_pcap(_contents(random, 120_000, largest=200)), _pcapng(_contents(random, 120_000, largest=200))]
    # Garbage in front, so that headers lie anywhere.
    contents = [random.randbytes(random.randrange(1, 60)) + random.choice(inner) for _ in range(60)]
    for each, header, pad, tail, head in (
        (_pcap(contents), 16, 1, 0, 24),
        (_pcapng(contents), 28, 4, 4, len(_pcapng([]))),
    ):
        begins = _record_begins(each, contents, head, header, pad=pad, tail=tail)
        _assert_parts(parts(Memory(each), 700_000), each, begins, each[:head], 700_000)


def test_a_large_file_is_hardly_read() -> None:
    contents = _contents(Random(4), 20_000_000)
    content = Memory(_pcap(contents))
    assert len(parts(content, 5_000_000)) in (4, 5)
    assert content.taken < 12_000_000


def test_what_cannot_be_split_is_one_part() -> None:
    contents = _contents(Random(5), 600_000)
    twice = section() + interface() + section() + interface() + enhanced(1, b"x")
    for data in (b"", b"\x1f\x8b" + bytes(500_000), _pcap([])[:20], _pcap([]), _pcap(contents)[:200_000], twice):
        assert parts(Memory(data), 1000) == (Part(begin=0, end=len(data), context=b""),)


def test_a_file_that_is_all_traps_costs_bounded_time() -> None:
    """Every place looks like a record that leads to the next trap, and all of them nowhere."""
    trap = pack("<IIII", 0x01010101, 0x01010101 & 0xFFFF, 0x00010001, 0x00010001)
    content = Memory(_pcap([]) + trap * 60_000)
    parts(content, 100_000)
    assert content.taken < 100 * content.size


def test_damage_makes_a_part_longer_and_blocks_of_other_kinds_stay_inside() -> None:
    contents = _contents(Random(6), 3_000_000)
    data = bytearray(_pcap(contents))
    data[1_000_000:1_600_000] = Random(7).randbytes(600_000)
    found = parts(Memory(bytes(data)), 200_000)
    assert not [part for part in found if 1_000_000 < part.begin < 1_600_000]
    assert [part for part in found if part.begin > 1_600_000]
    many = (
        section()
        + interface()
        + b"".join(
            enhanced(index, b"x" * 900) + block(5, bytes(12)) + block(0x0BAD, bytes(500)) for index in range(2000)
        )
    )
    assert len(parts(Memory(many), 300_000)) > 4
