"""pcap files: variants, pieces, damage."""

from struct import pack

import pytest

from netdiag.errors import InputError
from tests.traffic.engine.capture_files import SECOND, START, accounted, pcap, read, times

THREE = [(START, b"a" * 60), (START + 1500, b"b" * 1), (START + SECOND + 999_999_000, b"c" * 1514)]


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("piece", [1, 7, 64, None])
@pytest.mark.parametrize("nanoseconds", [False, True])
def test_every_variant_gives_the_same_packets(order: str, piece: int | None, nanoseconds: bool) -> None:
    data = pcap(THREE, order=order, nanoseconds=nanoseconds, link=113)
    packets, reader = read(data, piece=piece, file=4)
    expected = [time if nanoseconds else time // 1000 * 1000 for time, _ in THREE]
    assert times(packets) == expected
    assert [bytes(packet.data) for packet in packets] == [content for _, content in THREE]
    assert [packet.length for packet in packets] == [60, 1, 1514]
    assert [packet.number for packet in packets] == [1, 2, 3]
    assert {(packet.link_type, packet.file, packet.interface) for packet in packets} == {(113, 4, "")}
    assert not reader.losses
    assert accounted(reader) == len(data)


@pytest.mark.parametrize("order", ["<", ">"])
def test_the_modified_variant_tells_the_interface(order: str) -> None:
    data = pcap(THREE, order=order, modified=True)
    packets, reader = read(data)
    assert [(packet.interface, len(packet.data)) for packet in packets] == [("1", 60), ("2", 1), ("3", 1514)]
    assert accounted(reader) == len(data)


def test_a_snaplen_keeps_the_length_on_the_wire() -> None:
    packets, _ = read(pcap(THREE, snaplen=96))
    assert [(len(packet.data), packet.length) for packet in packets] == [(60, 60), (1, 1), (96, 1514)]


def test_more_kept_than_there_was_is_taken_as_it_is() -> None:
    data = bytearray(pcap(THREE))
    data[24 + 12 : 24 + 16] = pack("<I", 20)
    packets, reader = read(bytes(data))
    assert [(len(packet.data), packet.length) for packet in packets] == [(60, 60), (1, 1), (1514, 1514)]
    assert not reader.losses


def test_a_file_that_is_still_written_gives_its_full_packets() -> None:
    whole = pcap(THREE)
    for cut in (1, 1000, 1514, 1520):
        packets, reader = read(whole[:-cut])
        assert len(packets) == 2
        assert [loss.kind for loss in reader.losses] == ["truncated"]
        assert accounted(reader) == len(whole) - cut


def test_a_file_without_packets_has_none() -> None:
    packets, reader = read(pcap([]))
    assert not packets
    assert not reader.losses
    packets, reader = read(pcap([])[:20])
    assert not packets
    assert reader.losses[0].bytes == 20


def test_packets_of_another_time_are_counted_and_not_given() -> None:
    data = pcap(THREE, nanoseconds=True)
    packets, reader = read(data, since=START + 1, until=START + SECOND)
    assert [packet.number for packet in packets] == [2]
    assert (reader.account.packets, reader.account.filtered) == (3, 2)
    assert accounted(reader) == len(data)


MANY = [(START + index * 1000, bytes([index]) * (60 + index)) for index in range(100)]
LENGTHS = [60 + index for index in range(100)]


def _offset(index: int) -> int:
    """Where the record of MANY begins."""
    return 24 + sum(16 + length for length in LENGTHS[:index])


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("piece", [13, 1000, None])
@pytest.mark.parametrize(
    ("field", "value", "lost"),
    [
        (8, 0xFFFFFFFF, {50}),
        (8, 300_000, {50}),
        # Too long: the packet is given with the ones that it ate behind it, and these are given again.
        (8, 2000, set()),
        # Too short: what is cut off is lost, not the packets behind it.
        (8, 30, set()),
        (8, 0, set()),
    ],
)
def test_a_length_that_lies_costs_no_other_packet(
    order: str, piece: int | None, field: int, value: int, lost: set[int]
) -> None:
    data = bytearray(pcap(MANY, order=order))
    data[_offset(50) + field : _offset(50) + field + 4] = pack(order + "I", value)
    packets, reader = read(bytes(data), piece=piece)
    found = {packet.data[0] for packet in packets if len(packet.data) >= 60}
    assert set(range(100)) - found <= lost | ({50} if value < 60 else set())
    assert accounted(reader) == len(data)


@pytest.mark.parametrize("piece", [13, 1000, None])
def test_a_length_beyond_the_end_costs_one_packet(piece: int | None) -> None:
    data = bytearray(pcap(MANY))
    data[_offset(50) + 8 : _offset(50) + 12] = pack("<I", 200_000)
    packets, reader = read(bytes(data), piece=piece)
    assert [packet.data[0] for packet in packets] == [*range(50), *range(51, 100)]
    assert [loss.kind for loss in reader.losses] == ["damage"]
    assert accounted(reader) == len(data)


@pytest.mark.parametrize("piece", [13, 1000, None])
def test_garbage_between_packets_is_passed_over(piece: int | None) -> None:
    data = pcap(MANY)
    garbage = bytes((index * 37 + 11) & 0xFF for index in range(5000))
    packets, reader = read(data[: _offset(40)] + garbage + data[_offset(40) :], piece=piece)
    assert [packet.data[0] for packet in packets if len(packet.data) in LENGTHS] == list(range(100))
    assert accounted(reader) == len(data) + len(garbage)


@pytest.mark.parametrize("piece", [1, 13, None])
def test_files_that_were_joined_are_read_to_the_end(piece: int | None) -> None:
    data = b"".join(
        pcap(THREE, order=order, nanoseconds=nanoseconds, link=link, modified=modified)
        for order, nanoseconds, link, modified in (
            ("<", False, 1, False),
            ("<", True, 113, False),
            (">", False, 101, True),
            ("<", False, 1, False),
        )
    )
    packets, reader = read(data, piece=piece)
    assert [packet.link_type for packet in packets] == [1] * 3 + [113] * 3 + [101] * 3 + [1] * 3
    assert [packet.number for packet in packets] == list(range(1, 13))
    assert times(packets)[3:6] == [time for time, _ in THREE]
    assert not reader.losses
    assert accounted(reader) == len(data)


def test_an_empty_packet_is_a_packet() -> None:
    for piece in (1, 13, None):
        # The time of the second is the number that pcap files begin with.
        made = [(START, b""), (0xA1B2C3D4 * SECOND, b""), (START + 1000, b"x"), (START + 2000, b"")]
        packets, reader = read(pcap(made), piece=piece)
        assert [len(packet.data) for packet in packets] == [0, 0, 1, 0]
        assert not reader.losses


def test_zeros_that_a_crash_left_are_no_packets() -> None:
    packets, reader = read(pcap(THREE) + bytes(4096), piece=1000)
    assert len(packets) == 3
    assert [(loss.kind, loss.bytes) for loss in reader.losses] == [("damage", 4096)]


def test_only_versions_that_exist_are_read() -> None:
    data = bytearray(pcap(THREE))
    data[4] = 9
    with pytest.raises(InputError, match=r"version 9\.4"):
        read(bytes(data))
