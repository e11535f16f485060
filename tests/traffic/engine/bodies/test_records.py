"""Batches that kafka-python writes are summarised as what was put into them."""

import random
import struct

import pytest
from kafka.record.memory_records import MemoryRecordsBuilder

from netdiag.traffic.engine.bodies.facts import BatchFacts
from netdiag.traffic.engine.bodies.records import MOST_BATCHES, summarise

NONE, GZIP = 0, 1
TIMES = (1_700_000_000_500, 1_700_000_000_900, 1_700_000_000_100)


def _written(magic: int, codec: int = NONE, count: int = 3, **options: int | bool) -> bytes:
    builder = MemoryRecordsBuilder(magic=magic, compression_type=codec, batch_size=1 << 20, **options)
    for number in range(count):
        builder.append(timestamp=TIMES[number % 3], key=b"key", value=b"value" * 20)
    builder.close()
    return bytes(builder.buffer())


def _moved(batch: bytes, base_offset: int) -> bytes:
    """The batch as the broker puts it into its log."""
    return struct.pack(">q", base_offset) + batch[8:]


def _whole(data: bytes) -> tuple[tuple[int | None, int | None, int | None], list[BatchFacts]]:
    batches: list[BatchFacts] = []
    return summarise(data, 0, len(data), len(data), "t", 4, batches), batches


@pytest.mark.parametrize("codec", [NONE, GZIP])
def test_batches_of_magic_2(codec: int) -> None:
    first, second = _moved(_written(2, codec), 100), _moved(_written(2, codec, count=2), 205)
    summary, batches = _whole(first + second)
    assert summary == (5, 206, max(TIMES))
    assert [(row.base_offset, row.last_offset_delta, row.records, row.bytes) for row in batches] == [
        (100, 2, 3, len(first)),
        (205, 1, 2, len(second)),
    ]
    for row in batches:
        assert (row.topic, row.partition, row.magic, row.codec) == ("t", 4, 2, codec)
        assert (row.first_timestamp, row.max_timestamp) == (TIMES[0], TIMES[1])
        assert (row.transactional, row.control, row.log_append_time, row.complete) == (False, False, False, True)
        assert (row.producer_id, row.producer_epoch, row.base_sequence) == (-1, -1, -1)


def test_who_produced_is_told() -> None:
    options = {"transactional": True, "producer_id": 77, "producer_epoch": 5, "base_sequence": 12}
    (row,) = _whole(_written(2, **options))[1]
    assert (row.producer_id, row.producer_epoch, row.base_sequence, row.transactional) == (77, 5, 12, True)


def test_control_records_are_no_records() -> None:
    marker = bytearray(_moved(_written(2, count=1), 9))
    marker[22] |= 0x20 | 0x10
    summary, (row,) = _whole(bytes(marker))
    assert (summary[:2], row.control, row.records) == ((0, 9), True, 1)


@pytest.mark.parametrize("magic", [0, 1])
def test_message_sets_are_one_batch(magic: int) -> None:
    data = _written(magic)
    summary, (row,) = _whole(data)
    latest = max(TIMES) if magic else None
    assert summary == (3, 2, latest)
    assert (row.magic, row.base_offset, row.last_offset_delta, row.records) == (magic, 0, 2, 3)
    assert (row.bytes, row.codec, row.max_timestamp, row.complete) == (len(data), 0, latest, True)


@pytest.mark.parametrize("magic", [0, 1])
def test_how_many_a_compressed_wrapper_holds_is_not_known(magic: int) -> None:
    data = _written(magic, GZIP)
    summary, (row,) = _whole(data)
    assert (summary[0], row.records, row.codec, row.bytes) == (None, None, GZIP, len(data))


def test_formats_may_follow_each_other() -> None:
    summary, batches = _whole(_written(0) + _written(1) + _moved(_written(2), 9) + _written(1))
    assert summary[0] == 12
    assert [row.magic for row in batches] == [0, 1, 2, 1]


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_the_last_batch_of_a_fetch_may_be_cut_by_the_broker(magic: int) -> None:
    first, second = _moved(_written(magic, count=1), 100), _moved(_written(magic, count=1), 200)
    for length in range(1, len(second)):
        data = first + second[:length]
        summary, batches = _whole(data)
        assert summary == (1, 100, None if magic == 0 else TIMES[0]), length
        assert batches[0].complete
        assert all(not row.complete and row.bytes == length for row in batches[1:])


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_what_the_capture_cut_is_not_counted_as_none(magic: int) -> None:
    data = b"".join(_moved(_written(magic, count=2 if magic == 2 else 1), offset) for offset in (100, 200, 300))
    whole, rows = _whole(data)
    for kept in range(len(data)):
        batches: list[BatchFacts] = []
        summary = summarise(data[:kept], 0, len(data), kept, "t", 4, batches)
        assert summary[0] in (None, whole[0])
        assert (summary[0] is None) == (kept < len(data) * 2 / 3 + {0: 18, 1: 26, 2: 61}[magic])
        if magic == 2:
            for found, row in zip(batches, rows, strict=False):
                assert found == row or found[:4] == row[:4]
                assert found.complete


def test_the_records_of_very_many_batches_are_counted_all() -> None:
    data = _written(2, count=1) * (MOST_BATCHES + 7)
    summary, batches = _whole(data)
    assert (summary[0], len(batches)) == (MOST_BATCHES + 7, MOST_BATCHES)


def test_any_bytes_give_a_summary() -> None:
    dice = random.Random(8)
    good = _moved(_written(2), 5) + _written(1) + _written(0) + _written(2, GZIP)
    for _ in range(20_000):
        data = bytearray(good)
        for _ in range(dice.randrange(1, 6)):
            data[dice.randrange(len(data))] = dice.choice((0, 255, 128, dice.randrange(256)))
        start, end = dice.randrange(3), len(data) + dice.randrange(-3, 200)
        kept = dice.randrange(len(data))
        batches: list[BatchFacts] = []
        summary = summarise(bytes(data[:kept]), start, end, kept, "t", 0, batches)
        assert all(value is None or -(1 << 63) <= value < 1 << 63 for value in summary)
        assert len(batches) <= len(data) / 18
