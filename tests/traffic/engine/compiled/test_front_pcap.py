"""pcap files by the kernel: what is no plain record comes back."""

from struct import pack

import pytest

from netdiag.traffic.engine.compiled import front_rows
from tests.traffic.engine.capture_files import SECOND, START, pcap
from tests.traffic.engine.compiled.fronts import assert_same
from tests.traffic.engine.frames import ethernet, ipv4, tcp

DATA = [ethernet(ipv4(tcp(bytes([index]) * index * 7, sequence=index))) for index in range(40)]
RECORDS = [(START + index * 1_001, data) for index, data in enumerate(DATA)]
SIZES = ([130, 1, 500], [100_000])


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("nanoseconds", [False, True])
@pytest.mark.parametrize("modified", [False, True])
def test_every_variant(order: str, sizes: list[int], nanoseconds: bool, modified: bool) -> None:
    data = pcap(RECORDS, order=order, nanoseconds=nanoseconds, modified=modified)
    assert assert_same(data, sizes, file=3) == (40, 40)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_joined_files_and_empty_packets(sizes: list[int]) -> None:
    odd = pcap([(START, b""), (0xA1B2C3D4 * SECOND, b""), (START + 1000, b"x"), (START + 2000, b"")])
    data = pcap(RECORDS) + odd + pcap(RECORDS, order=">", modified=True) + pcap(RECORDS, link=113) + bytes(4096)
    assert_same(data, sizes)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_only_the_wanted_time_is_given(sizes: list[int]) -> None:
    since, until = START + 5 * 1_001, START + 30 * 1_001
    data = pcap(RECORDS, nanoseconds=True)
    assert assert_same(data, sizes, since=since, until=until) == (25, 25)
    assert assert_same(data, sizes, since=2**70) == (0, 0)
    assert assert_same(data, sizes, until=2**70) == (40, 40)
    # The last record that was read had lied about its length, and was not wanted.
    assert_same(data[: 24 + 16 * 3] + b"\xff" * 40 + data[24 + 16 * 3 :], sizes, since=since, until=until)


def test_more_interfaces_than_there_are_numbers_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(front_rows, "MOST_NAMES", 500)
    header = pack("<IHHiIII", 0xA1B2CD34, 2, 4, 0, 0, 262_144, 1)
    record = pack("<IIII", 1_700_000_000, 0, len(DATA[0]), len(DATA[0]))
    records = (record + pack("<IHBB", index, 0x0800, 0, 0) + DATA[0] for index in range(600))
    count, decoded = assert_same(header + b"".join(records), [1 << 20])
    assert count == 600
    assert decoded == 499
