"""pcapng files: blocks, sections, interfaces, times, damage."""

from struct import pack

import pytest

from tests.traffic.engine.capture_files import (
    SECOND,
    START,
    accounted,
    block,
    enhanced,
    interface,
    option,
    read,
    section,
    times,
)

DATA = b"x" * 61


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("piece", [1, 7, None])
def test_all_kinds_of_packets_are_read(order: str, piece: int | None) -> None:
    data = (
        section(order=order)
        + interface(link=1, snaplen=20, order=order)
        + interface(link=276, options=option(2, b"eth0", order=order) + option(0, b"", order=order), order=order)
        + block(4, b"\0" * 8, order=order)
        + enhanced(START // 1000, DATA, index=1, wire=1000, order=order)
        + block(0x0BAD, b"custom block", order=order)
        + block(3, pack(order + "I", 61) + DATA[:20], order=order)
        + block(
            2, pack(order + "HHIIII", 0, 0, START // 1000 >> 32, START // 1000 & 0xFFFFFFFF, 61, 61) + DATA, order=order
        )
    )
    packets, reader = read(data, piece=piece)
    assert times(packets) == [START, START, START]
    assert [(bytes(packet.data), packet.length) for packet in packets] == [(DATA, 1000), (DATA[:20], 61), (DATA, 61)]
    assert [(packet.link_type, packet.interface) for packet in packets] == [(276, "eth0"), (1, "0"), (1, "0")]
    assert [packet.number for packet in packets] == [1, 2, 3]
    assert not reader.losses
    assert accounted(reader) == len(data)


@pytest.mark.parametrize(
    ("resolution", "ticks", "nanoseconds"),
    [
        (None, START // 1000, START),
        (6, START // 1000, START),
        (9, START + 7, START + 7),
        (3, START // 1_000_000, START),
        (0, START // SECOND, START),
        (12, 5 * SECOND * 1000 + 999, 5 * SECOND),
        (0x80, 1_700_000_000, START),
        (0x80 | 10, 1_700_000_000 * 1024 + 512, START + SECOND // 2),
        (0x80 | 32, (1_700_000_000 << 32) + (1 << 30), START + SECOND // 4),
        (0xFF, 1 << 63, 0),
        (0, (1 << 64) - 1, 2**63 - 1),
    ],
)
def test_every_resolution_of_time(resolution: int | None, ticks: int, nanoseconds: int) -> None:
    options = b"" if resolution is None else option(9, bytes([resolution]))
    packets, _ = read(section() + interface(options=options) + enhanced(ticks, DATA))
    assert times(packets) == [nanoseconds]


@pytest.mark.parametrize(("seconds", "expected"), [(100, START), (-5, START - 105 * SECOND), (-(2**62), 0)])
def test_an_offset_of_time_is_added(seconds: int, expected: int) -> None:
    options = option(14, pack("<q", seconds))
    packets, _ = read(section() + interface(options=options) + enhanced(START // 1000 - 100_000_000, DATA))
    assert times(packets) == [expected]


def test_sections_have_their_own_byte_order_and_interfaces() -> None:
    data = b"".join(
        section(order=order) + interface(link=link, order=order) + enhanced(START // 1000, DATA, order=order)
        for order, link in (("<", 1), (">", 113), ("<", 276))
    )
    packets, reader = read(data, piece=50)
    assert [packet.link_type for packet in packets] == [1, 113, 276]
    assert [packet.number for packet in packets] == [1, 2, 3]
    assert not reader.losses


def test_drops_are_those_of_the_last_statistics() -> None:
    def statistics(index: int, by_interface: int, by_system: int) -> bytes:
        options = option(5, pack("<Q", by_interface)) + option(7, pack("<Q", by_system)) + option(0, b"")
        return block(5, pack("<III", index, 0, 0) + options)

    data = section() + interface() + interface() + statistics(0, 1, 2) + statistics(0, 5, 6) + statistics(1, 100, 0)
    _, reader = read(data)
    assert reader.account.dropped == 111


def test_packets_of_another_time_are_counted_and_not_given() -> None:
    data = section() + interface() + b"".join(enhanced(second * 1_000_000, DATA) for second in range(10))
    packets, reader = read(data, since=3 * SECOND, until=5 * SECOND)
    assert [packet.number for packet in packets] == [4, 5]
    assert reader.account.filtered == 8
    assert accounted(reader) == len(data)


def test_large_blocks_that_are_of_no_use_are_not_kept() -> None:
    large = block(0x0BAD, b"s" * 3_000_000)
    data = section() + interface() + large + enhanced(START // 1000, DATA)
    packets, reader = read(data, piece=65_536)
    assert len(packets) == 1
    assert accounted(reader) == len(data)
    packets, reader = read(data[:2_000_000], piece=65_536)
    assert [loss.kind for loss in reader.losses] == ["truncated"]
    assert accounted(reader) == 2_000_000


@pytest.mark.parametrize("piece", [13, None])
@pytest.mark.parametrize(
    ("offset", "value"),
    [(4, 0xFFFFFFFF), (4, 0), (4, 61), (4, 1000), (8, 7), (20, 5000), (-4, 5)],
    ids=["endless", "empty", "odd", "too-long", "unknown-interface", "too-much", "end"],
)
def test_a_damaged_block_costs_no_other_packet(piece: int | None, offset: int, value: int) -> None:
    one = enhanced(START // 1000, DATA)
    begin = section() + interface()
    data = bytearray(begin + 9 * one)
    at = len(begin) + 4 * len(one) + (offset if offset >= 0 else len(one) + offset)
    data[at : at + 4] = pack("<I", value)
    packets, reader = read(bytes(data), piece=piece)
    assert len(packets) == 8
    assert {loss.kind for loss in reader.losses} == {"damage"}
    assert accounted(reader) == len(data)


def test_a_file_that_is_still_written_gives_its_full_packets() -> None:
    data = section() + interface() + 3 * enhanced(START // 1000, DATA)
    packets, reader = read(data[:-1])
    assert len(packets) == 2
    assert [(loss.kind, loss.detail) for loss in reader.losses] == [("truncated", "the file ends inside a block")]
    assert accounted(reader) == len(data) - 1
