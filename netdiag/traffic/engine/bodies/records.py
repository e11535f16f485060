"""Summarise the records of one partition from the headers of its batches, without looking at keys and values.

Contract: bytes in, counts out; nothing is decompressed, no checksum is taken. Batches of magic 2 have their count in
the header (KIP-98). A message set of magic 0 or 1 has none: neighbours that are not compressed are gathered into one
batch, and of a compressed wrapper the count is not known. The last batch of a Fetch response may be cut short by the
broker; what it would hold is not counted, as no client sees it.
"""

from struct import Struct

from netdiag.traffic.engine.bodies.facts import BatchFacts, Topic

BATCH_HEADER = 61
MESSAGE_HEADER = 26
"""How many bytes of a batch (of a message, magic 0 and 1) are looked at."""
MOST_BATCHES = 10_000
"""So many batches of one message have rows; those behind them are counted only."""

_BATCH = Struct(">qi4xb4xhiqqqhii").unpack_from
_START = Struct(">qi4xb").unpack_from
_MESSAGE = Struct(">qi4xbb").unpack_from
_INT64 = Struct(">q").unpack_from
_NO_TIMESTAMP = -1
_LARGEST = (1 << 63) - 1
_new = tuple.__new__

Summary = tuple[int | None, int | None, int | None]
"""How many records without control records, the offset of the last one, the greatest timestamp; None is not known."""


def summarise(
    data: bytes,
    start: int,
    end: int,
    kept: int,
    topic: Topic,
    partition: int,
    batches: list[BatchFacts] | None,
) -> Summary:
    """Summarise the batches between two positions, of which those before `kept` are there; adds them to `batches`."""
    records: int | None = 0
    last_offset = None
    latest = _NO_TIMESTAMP
    stop = end if end < kept else kept
    while start < end:
        magic = 0
        if start + BATCH_HEADER <= stop:
            base, length, magic, flags, delta, first, maximum, producer, epoch, sequence, count = _BATCH(data, start)
        if magic == 2:
            if length < BATCH_HEADER - 12 or count < 0 or delta < 0:
                records = None
                break
            following = start + 12 + length
            complete = following <= end
            if complete:
                if not flags & 32 and records is not None:
                    records += count
                last_offset = base + delta if base + delta <= _LARGEST else None
                if maximum > latest:
                    latest = maximum
            if batches is not None and len(batches) < MOST_BATCHES:
                size = 12 + length if complete else end - start
                row = (topic, partition, 2, base, delta, count, size, flags & 7, producer, epoch, sequence)
                rest = (flags & 16 != 0, flags & 32 != 0, first, maximum, flags & 8 != 0, complete)
                batches.append(_new(BatchFacts, row + rest))
        else:
            entry = _entry(data, start, end, stop, topic, partition)
            if entry is None:
                records = records if stop == end and _ends_early(data, start, end) else None
                break
            following = start + 12 + _START(data, start)[1]
            _add(batches, entry)
            if entry.complete:
                records = None if records is None or entry.records is None else records + entry.records
                last_offset = _START(data, start)[0]
                latest = max(latest, entry.max_timestamp if entry.max_timestamp is not None else latest)
        start = following
    return records, last_offset, None if latest < 0 else latest


def _ends_early(data: bytes, start: int, end: int) -> bool:
    """Whether the bytes look like the beginning of an entry that the broker cut."""
    if start + 17 > end:
        return True
    _, length, magic = _START(data, start)
    return bool(0 <= magic <= 2 and start + 12 + length > end)


def _entry(data: bytes, start: int, end: int, stop: int, topic: Topic, partition: int) -> BatchFacts | None:
    """An older message, or a batch whose header is not there as a whole; None for neither."""
    if start + 17 > stop:
        return None
    _, length, magic = _START(data, start)
    following = start + 12 + length
    if magic == 2 and length >= BATCH_HEADER - 12:
        return _cut_batch(data, start, end, following, stop, topic, partition)
    if magic not in (0, 1) or length < (14, 22)[magic] or start + (18, MESSAGE_HEADER)[magic] > stop:
        return None
    return _message(data, start, end, following, topic, partition)


def _cut_batch(
    data: bytes, start: int, end: int, following: int, stop: int, topic: Topic, partition: int
) -> BatchFacts:
    """A batch of magic 2 whose header is not there as a whole."""
    base, _, _ = _START(data, start)
    flags = data[start + 22] if start + 23 <= stop else None
    return BatchFacts(
        topic=topic,
        partition=partition,
        magic=2,
        base_offset=base,
        last_offset_delta=None,
        records=None,
        bytes=min(following, end) - start,
        codec=None if flags is None else flags & 7,
        producer_id=None,
        producer_epoch=None,
        base_sequence=None,
        transactional=None if flags is None else flags & 16 != 0,
        control=None if flags is None else flags & 32 != 0,
        first_timestamp=None,
        max_timestamp=None,
        log_append_time=None if flags is None else flags & 8 != 0,
        complete=following <= end,
    )


def _message(data: bytes, start: int, end: int, following: int, topic: Topic, partition: int) -> BatchFacts:
    """A message of magic 0 or 1; a compressed one holds others, whose number it does not say."""
    base, _, magic, flags = _MESSAGE(data, start)
    codec = flags & 7
    timestamp = _INT64(data, start + 18)[0] if magic == 1 else None
    plain = codec == 0
    return BatchFacts(
        topic=topic,
        partition=partition,
        magic=magic,
        base_offset=base if plain else None,
        last_offset_delta=0 if plain else None,
        records=1 if plain else None,
        bytes=min(following, end) - start,
        codec=codec,
        producer_id=None,
        producer_epoch=None,
        base_sequence=None,
        transactional=None,
        control=None,
        first_timestamp=timestamp if plain else None,
        max_timestamp=timestamp,
        log_append_time=flags & 8 != 0 if magic == 1 else None,
        complete=following <= end,
    )


def _add(batches: list[BatchFacts] | None, row: BatchFacts) -> None:
    if batches is None:
        return
    if batches and row.magic < 2 and row.codec == 0 and row.complete:
        before = batches[-1]
        if (
            before[:3] == row[:3]
            and before.codec == 0
            and before.complete
            and before.log_append_time == row.log_append_time
        ):
            batches[-1] = _joined(before, row)
            return
    if len(batches) < MOST_BATCHES:
        batches.append(row)


def _joined(before: BatchFacts, row: BatchFacts) -> BatchFacts:
    delta = (row.base_offset or 0) - (before.base_offset or 0)
    return before._replace(
        last_offset_delta=delta if 0 <= delta < 1 << 31 else None,
        records=(before.records or 0) + 1,
        bytes=before.bytes + row.bytes,
        max_timestamp=_later(before.max_timestamp, row.max_timestamp),
    )


def _later(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return other if one is None else one
    return max(one, other)
