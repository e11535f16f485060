"""Read the records of batches with their keys and values, for whoever asks for them.

Contract: bytes in, records out, in the order of the wire; what cannot be read is an `Unread` in its place. A batch that
is not there as a whole is neither: the broker cut it, or the capture, and then it is counted as that. No checksum is
taken, control batches (marks of transactions) are passed over. Time and memory are linear in the bytes, and in the
bounded number that they unpack to.
"""

from collections.abc import Iterator
from struct import Struct, error
from typing import NamedTuple

from netdiag.traffic.engine.bodies.unpacking import MOST, Beyond, Damaged, Unknown, unpack

BATCH_HEADER = 61
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
MOST_HEADERS = 100
"""So many headers of one record are told."""
_LEAST = (14, 22, BATCH_HEADER - 12)

_BATCH = Struct(">qi4xb4xhiqqqhii").unpack_from
_START = Struct(">qi4xbb").unpack_from
_INT32 = Struct(">i").unpack_from
_INT64 = Struct(">q").unpack_from
_START_SIZE = 18
_FIRST, _LAST = -1 << 63, (1 << 63) - 1

UNDECODED, LIMIT = "undecoded", "limit"
UNREADABLE = "records that cannot be read"

Bytes = bytes | None
Headers = tuple[tuple[bytes, Bytes], ...]


class Record(NamedTuple):
    """A record; `offset` and `timestamp` (milliseconds) as its batch has it, None beyond 64 bits."""

    offset: int | None
    offset_delta: int
    timestamp: int | None
    key: Bytes
    value: Bytes
    headers: Headers
    codec: str
    producer_id: int | None


class Unread(NamedTuple):
    """So many bytes of a batch were not read."""

    kind: str
    bytes: int
    detail: str


def records_of(data: bytes, size: int, most: int = MOST) -> Iterator[Record | Unread]:
    """The records of a partition: `size` bytes, of which `data` was kept; `most` bounds what a batch unpacks to."""
    at, kept = 0, len(data)
    while at + _START_SIZE <= kept:
        base, length, magic, flags = _START(data, at)
        if magic not in (0, 1, 2) or length < _LEAST[magic]:
            yield Unread(UNDECODED, size - at, UNREADABLE)
            return
        end = at + 12 + length
        if end > kept:
            return
        if magic == 2:
            yield from _batch(data[at:end], most)
        elif flags & 7:
            yield Unread(UNDECODED, end - at, f"compressed with {_codec(flags & 7)} in message format {magic}")
        else:
            yield _message(data[at:end], base, magic) or Unread(UNDECODED, end - at, UNREADABLE)
        at = end


def _codec(number: int) -> str:
    return CODECS[number] if number < len(CODECS) else f"CODEC({number})"


def _message(entry: bytes, base: int, magic: int) -> Record | None:
    """A message of magic 0 or 1: a record by itself."""
    at, timestamp = _START_SIZE, None
    try:
        if magic == 1:
            (timestamp,) = _INT64(entry, at)
            at += 8
        key, at = _sized(entry, at + 4, _INT32(entry, at)[0])
        value, at = _sized(entry, at + 4, _INT32(entry, at)[0])
    except (Damaged, error):
        return None
    return Record(base, 0, None if timestamp == -1 else timestamp, key, value, (), CODECS[0], None)


def _batch(batch: bytes, most: int) -> Iterator[Record | Unread]:
    base, _, _, flags, _, first, latest, producer, _, _, count = _BATCH(batch)
    if flags & 32:
        return
    codec = _codec(flags & 7)
    try:
        data = unpack(flags & 7, batch[BATCH_HEADER:], most) if flags & 7 else batch[BATCH_HEADER:]
    except Unknown:
        yield Unread(UNDECODED, len(batch), f"compressed with {codec}")
        return
    except Damaged:
        yield Unread(UNDECODED, len(batch), UNREADABLE)
        return
    except Beyond:
        yield Unread(LIMIT, len(batch), "a record batch that unpacks to too much")
        return
    at = 0
    for _ in range(count):
        try:
            at, time, delta, key, value, headers = _record(data, at)
        except (Damaged, IndexError):
            yield Unread(UNDECODED, len(batch), UNREADABLE)
            return
        timestamp = latest if flags & 8 else first + time
        yield Record(
            base + delta if _FIRST <= base + delta <= _LAST else None,
            delta,
            timestamp if 0 <= timestamp <= _LAST else None,
            key,
            value,
            headers,
            codec,
            producer,
        )


def _record(data: bytes, at: int) -> tuple[int, int, int, Bytes, Bytes, Headers]:
    """Where a record ends, how much later and further it is than the first, its key, value and headers."""
    length, at = _varint(data, at)
    end = at + length
    if length < 0 or end > len(data):
        raise Damaged
    time, at = _varint(data, at + 1, 64)
    delta, at = _varint(data, at)
    key, at = _sized(data, *_turned(_varint(data, at)))
    value, at = _sized(data, *_turned(_varint(data, at)))
    count, at = _varint(data, at)
    if count < 0 or 2 * count > end - at:
        raise Damaged
    headers = []
    for _ in range(min(count, MOST_HEADERS)):
        name, at = _sized(data, *_turned(_varint(data, at)))
        said, at = _sized(data, *_turned(_varint(data, at)))
        headers.append((name or b"", said))
    if at > end:
        raise Damaged
    return end, time, delta, key, value, tuple(headers)


def _turned(pair: tuple[int, int]) -> tuple[int, int]:
    return pair[1], pair[0]


def _sized(data: bytes, at: int, length: int) -> tuple[Bytes, int]:
    """Bytes of a length that is known, and where they end; -1 is null."""
    if length < 0:
        if length < -1:
            raise Damaged
        return None, at
    if at + length > len(data):
        raise Damaged
    return data[at : at + length], at + length


def _varint(data: bytes, at: int, bits: int = 32) -> tuple[int, int]:
    """A number in zigzag, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if shift >= bits:
            raise Damaged
    if value >> bits:
        raise Damaged
    return (value >> 1) ^ -(value & 1), at
