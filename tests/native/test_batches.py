"""Record batches that kafka-python writes are summarised as what was put into them."""

from collections.abc import Sequence
from typing import Any

import pytest

from netdiag.kafka import protocol as wire
from tests.native.conversations import FETCH, TIME, Written, batch, produce, produced_and_fetched
from tests.native.packets import TcpConnection
from tests.native.reading import rows_of_packets

NONE, GZIP = 0, 1
THREE: list[Written] = [(b"key", b"value" * 20, [])] * 3
HEADER = {0: 18, 1: 26, 2: 61}


def fetched(data: bytes) -> tuple[Any, Sequence[Any]]:
    """The rows of `partitions` and of `batches` for records that are fetched."""
    rows = rows_of_packets(produced_and_fetched(data).packets)
    (partition,) = (row for row in rows["partitions"] if row.api_key == FETCH)
    return partition, [row for row in rows["batches"] if row.api_key == FETCH]


@pytest.mark.parametrize("codec", [NONE, GZIP])
def test_batches_of_magic_2(codec: int) -> None:
    first, second = batch(THREE, codec=codec, base=100), batch(THREE[:2], codec=codec, base=205)
    partition, batches = fetched(first + second)
    assert (partition.records, partition.last_offset, partition.max_timestamp) == (5, 206, TIME + 2)
    assert [(row.base_offset, row.last_offset_delta, row.records, row.bytes) for row in batches] == [
        (100, 2, 3, len(first)),
        (205, 1, 2, len(second)),
    ]
    for row, last in zip(batches, (TIME + 2, TIME + 1), strict=True):
        assert (row.topic, row.partition, row.magic, row.codec) == ("orders", 4, 2, ("none", "gzip")[codec])
        assert (row.first_timestamp, row.max_timestamp) == (TIME, last)
        assert (row.transactional, row.control, row.log_append_time, row.complete) == (False, False, False, True)
        assert (row.producer_id, row.producer_epoch, row.base_sequence) == (-1, -1, -1)


def test_who_produced_is_told() -> None:
    data = batch(THREE, transactional=True, producer_id=77, producer_epoch=5, base_sequence=12)
    (row,) = fetched(data)[1]
    assert (row.producer_id, row.producer_epoch, row.base_sequence, row.transactional) == (77, 5, 12, True)


def test_control_records_are_no_records() -> None:
    marker = bytearray(batch(THREE[:1], base=9))
    marker[22] |= 0x20 | 0x10
    partition, (row,) = fetched(bytes(marker))
    assert (partition.records, partition.last_offset, row.control, row.records) == (0, 9, True, 1)


@pytest.mark.parametrize("magic", [0, 1])
def test_message_sets_are_one_batch(magic: int) -> None:
    data = batch(THREE, magic=magic)
    partition, (row,) = fetched(data)
    latest = TIME + 2 if magic else None
    assert (partition.records, partition.last_offset, partition.max_timestamp) == (3, 2, latest)
    assert (row.magic, row.base_offset, row.last_offset_delta, row.records) == (magic, 0, 2, 3)
    assert (row.bytes, row.codec, row.max_timestamp, row.complete) == (len(data), "none", latest, True)


@pytest.mark.parametrize("magic", [0, 1])
def test_how_many_a_compressed_wrapper_holds_is_not_known(magic: int) -> None:
    data = batch(THREE, magic=magic, codec=GZIP)
    partition, (row,) = fetched(data)
    assert (partition.records, row.records, row.codec, row.bytes) == (None, None, "gzip", len(data))


def test_formats_may_follow_each_other() -> None:
    data = batch(THREE, magic=0) + batch(THREE, magic=1) + batch(THREE, base=9) + batch(THREE, magic=1)
    partition, batches = fetched(data)
    assert partition.records == 12
    assert [row.magic for row in batches] == [0, 1, 2, 1]


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_the_last_batch_of_a_fetch_may_be_cut_by_the_broker(magic: int) -> None:
    first, second = batch(THREE[:1], magic=magic, base=100), batch(THREE[:1], magic=magic, base=200)
    begin = 100 if magic == 2 else 0
    for length in range(1, len(second), 3):
        partition, (whole, *cut) = fetched(first + second[:length])
        latest = None if magic == 0 else TIME
        assert (partition.records, partition.last_offset, partition.max_timestamp) == (1, begin, latest), length
        assert whole.complete
        assert all(not row.complete and row.bytes == length for row in cut)


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_what_the_capture_cut_is_not_counted_as_none(magic: int) -> None:
    """Records are counted where their header was kept, and not at all where it was not."""
    data = b"".join(batch(THREE[:1], magic=magic, base=base) for base in (100, 200, 300))
    request = produce(data)
    begin = request.index(data)
    for kept in range(0, len(data), 5):
        talk = TcpConnection(snap=54 + begin + kept).open().ask(request)
        rows = rows_of_packets(talk.packets)
        counts = {row.records for row in (*rows["partitions"], *rows["exchanges"])}
        assert counts == ({3} if kept >= len(data) * 2 // 3 + HEADER[magic] else {None}), kept
        assert all(row.complete for row in rows["batches"])


def test_a_fetch_that_was_cut_is_not_empty() -> None:
    data = batch(THREE)
    told = {"responses": [{"topic": "t", "partitions": [{"partition_index": 0, "records": data}]}]}
    response = wire.encode_response(FETCH, 12, 1, told)
    for kept, empty in ((50, None), (100, False), (len(response), False)):
        talk = TcpConnection(snap=54 + kept).open().ask(wire.encode_request(FETCH, 12, 1, "a", {})).answer(response)
        assert [row.empty for row in rows_of_packets(talk.packets)["exchanges"]] == [empty], kept
