"""pcapng files by the kernel: clocks, kinds of blocks, sections, what only plain Python can settle."""

from struct import pack

import pytest

from netdiag.traffic.engine.compiled import front_rows
from tests.traffic.engine.capture_files import SECOND, START, block, enhanced, interface, option, section
from tests.traffic.engine.compiled.fronts import assert_same
from tests.traffic.engine.frames import ethernet, ipv4, tcp

DATA = [ethernet(ipv4(tcp(bytes([index]) * index * 7, sequence=index))) for index in range(40)]
SIZES = ([130, 1, 500], [100_000])
TICKS = START // 1000


def _packets(*, order: str = "<") -> bytes:
    return b"".join(enhanced(TICKS + index, data, order=order) for index, data in enumerate(DATA))


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("order", ["<", ">"])
def test_all_kinds_of_packets(order: str, sizes: list[int]) -> None:
    old = pack(order + "HHIIII", 0, 0, TICKS >> 32, TICKS & 0xFFFFFFFF, len(DATA[5]), len(DATA[5])) + DATA[5]
    data = (
        section(order=order)
        + interface(options=option(2, b"eth0", order=order), order=order)
        + _packets(order=order)
        + block(3, pack(order + "I", len(DATA[3])) + DATA[3], order=order)
        + block(2, old, order=order)
        + block(0x0BAD, bytes(3000), order=order)
        + enhanced(TICKS, DATA[7], wire=5000, order=order)
        + section(order=order)
        + interface(link=101, order=order)
        + _packets(order=order)
    )
    count, decoded = assert_same(data, sizes, file=1)
    assert (count, decoded) == (83, 43)


@pytest.mark.parametrize(
    ("resolution", "ticks"),
    [
        (None, TICKS),
        (9, START + 7),
        (3, START // 1_000_000),
        (0, START // SECOND),
        (12, START + 999),
        (12, (1 << 63) - 1),
        (0x80, 1_700_000_000),
        (0x80 | 10, 1_700_000_000 * 1024 + 512),
        (0x80 | 32, (1_700_000_000 << 32) + (1 << 30) + 12345),
        (0x80 | 60, (1 << 62) + 999),
        (0xFF, 1 << 63),
        (0, (1 << 64) - 1),
        (9, (1 << 63) - 1),
        (9, 1 << 63),
    ],
)
@pytest.mark.parametrize("seconds", [None, 100, -5, -(2**62), 2**62])
def test_every_clock(resolution: int | None, ticks: int, seconds: int | None) -> None:
    options = b"" if resolution is None else option(9, bytes([resolution]))
    options += b"" if seconds is None else option(14, pack("<q", seconds))
    data = section() + interface(options=options) + enhanced(ticks, DATA[1]) + enhanced(ticks, DATA[2])
    assert assert_same(data, [4096]) == (2, 2)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_only_the_wanted_time_is_given(sizes: list[int]) -> None:
    simple = block(3, pack("<I", len(DATA[3])) + DATA[3])
    data = section() + interface() + _packets() + simple
    assert assert_same(data, sizes, since=START + 5000, until=START + 30_000) == (25, 25)
    assert assert_same(data, sizes, since=START + 50_000) == (0, 0)


def test_more_interfaces_than_there_are_numbers_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(front_rows, "MOST_NAMES", 500)
    parts = []
    for begin in range(0, 600, 100):
        names = (option(2, b"veth%d" % (begin + index)) for index in range(100))
        parts += [section(), *(interface(options=name) for name in names)]
        parts += [enhanced(TICKS, DATA[4], index=index) for index in (0, 99)]
    count, decoded = assert_same(b"".join(parts), [100_000])
    assert count == 12
    assert decoded == 9
