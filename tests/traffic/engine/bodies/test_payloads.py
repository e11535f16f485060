"""Records that kafka-python writes are read as what was put into them."""

import random
import struct

import pytest

from netdiag.traffic.engine.bodies.payloads import CODECS, LIMIT, MOST_HEADERS, UNDECODED, Record, Unread, records_of
from netdiag.traffic.engine.bodies.unpacking import LZ4, SNAPPY, ZSTD
from tests.traffic.engine.bodies.compressed import KEYS, TIME, batch, repacked
from tests.traffic.engine.bodies.test_unpacking import WAYS, packed


def written(way: str, base: int = 0) -> bytes:
    codec = {"gzip": 1, "snappy": SNAPPY, "xerial": SNAPPY, "lz4": LZ4, "zstd": ZSTD}.get(way, 0)
    return repacked(batch(base=base), codec, lambda data: packed(data)[way][1]) if codec > 1 else batch(codec=codec)


def whole(data: bytes) -> list[Record | Unread]:
    return list(records_of(data, len(data)))


def records(data: bytes) -> list[Record]:
    return [each for each in whole(data) if isinstance(each, Record)]


@pytest.mark.parametrize("way", ["none", *WAYS])
def test_every_codec_gives_what_was_written(way: str) -> None:
    found = records(written(way))
    assert [(each.key, each.value) for each in found] == [each[:2] for each in KEYS]
    assert [each.headers for each in found] == [tuple((n.encode(), v) for n, v in each[2]) for each in KEYS]
    assert [each.offset for each in found] == [each.offset_delta for each in found] == [0, 1, 2, 3]
    assert [each.timestamp for each in found] == [TIME + number for number in range(4)]
    assert {each.codec for each in found} == {"snappy" if way == "xerial" else way}
    assert {each.producer_id for each in found} == {-1}


def test_offsets_and_producer_are_those_of_the_batch() -> None:
    data = batch(base=100, producer_id=77, producer_epoch=1, base_sequence=5) + batch(base=1 << 62)
    found = records(data)
    assert [each.offset for each in found] == [100, 101, 102, 103, *(2**62 + number for number in range(4))]
    assert [each.producer_id for each in found] == [77] * 4 + [-1] * 4


def test_where_the_broker_gives_the_time_it_is_that_of_the_batch() -> None:
    data = bytearray(batch())
    data[22] |= 8
    assert [each.timestamp for each in records(bytes(data))] == [TIME + 3] * 4


def test_offset_and_time_beyond_64_bits_are_not_known() -> None:
    data = bytearray(batch(base=(1 << 63) - 2))
    data[27:35] = struct.pack(">q", (1 << 63) - 2)
    assert [each.offset for each in records(bytes(data))] == [2**63 - 2, 2**63 - 1, None, None]
    assert [each.timestamp for each in records(bytes(data))] == [2**63 - 2, 2**63 - 1, None, None]


def test_marks_of_transactions_are_no_records() -> None:
    data = bytearray(batch())
    data[22] |= 0x20
    assert whole(bytes(data)) == []


@pytest.mark.parametrize("magic", [0, 1])
def test_old_messages(magic: int) -> None:
    found = records(batch(magic=magic) + batch())
    assert [(each.key, each.value) for each in found] == [each[:2] for each in KEYS] * 2
    assert [each.timestamp for each in found[:4]] == ([TIME + number for number in range(4)] if magic else [None] * 4)
    assert [each.offset for each in found[:4]] == [0, 1, 2, 3]


@pytest.mark.parametrize("magic", [0, 1])
def test_old_messages_that_are_compressed_are_counted(magic: int) -> None:
    data = batch(magic=magic, codec=1)
    assert whole(data) == [Unread(UNDECODED, len(data), f"compressed with gzip in message format {magic}")]


def test_a_codec_that_nobody_knows_is_counted_and_the_next_batch_read() -> None:
    strange = repacked(batch(), 6, lambda data: data)
    found = whole(strange + batch())
    assert found[0] == Unread(UNDECODED, len(strange), "compressed with CODEC(6)")
    assert len(found) == 5
    assert CODECS[4] == "zstd"


def test_a_batch_that_unpacks_to_too_much_is_counted() -> None:
    bomb = batch([(b"", bytes(1 << 16), [])] * 20, codec=1)
    assert list(records_of(bomb, len(bomb), 1 << 20)) == [
        Unread(LIMIT, len(bomb), "a record batch that unpacks to too much")
    ]


def test_more_headers_than_are_told() -> None:
    (record,) = records(batch([(None, b"v", [("n", b"1")] * (MOST_HEADERS + 9))]))
    assert len(record.headers) == MOST_HEADERS


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_what_is_not_there_as_a_whole_is_left_out(magic: int) -> None:
    first = batch(KEYS[:1], magic=magic)
    data = first + batch(KEYS[3:], magic=magic)
    for kept in range(len(data)):
        found = list(records_of(data[:kept], len(data)))
        assert len(found) == (kept >= len(first)), kept
        assert all(isinstance(each, Record) for each in found)


@pytest.mark.parametrize("way", ["none", *WAYS])
def test_any_bytes_are_read_as_far_as_they_go(way: str) -> None:
    good = written(way)
    dice, unread = random.Random(way), 0
    for _ in range(500):
        data = bytearray(good)
        for _ in range(dice.randrange(1, 5)):
            data[dice.randrange(len(data)) if dice.random() < 0.5 else dice.randrange(100)] = dice.randrange(256)
        found = list(records_of(bytes(data), len(data)))
        assert len(found) <= 60_000
        unread += any(isinstance(each, Unread) for each in found)
    assert unread > 20


def test_a_count_that_is_a_lie_ends_with_the_bytes() -> None:
    data = bytearray(batch())
    data[57:61] = b"\x7f\xff\xff\xff"
    found = whole(bytes(data))
    assert len(found) == 5
    assert found[-1] == Unread(UNDECODED, len(data), "records that cannot be read")
