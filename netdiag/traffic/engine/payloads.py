"""The rows of the table `records`: keys and values, which nobody gets who has not asked for payloads.

They are made when a message is complete, so that no bytes are held; how many are held until they are drained is
bounded, and so is what batches unpack to.
"""

from base64 import b64encode
from codecs import getincrementaldecoder
from collections.abc import Iterator

from netdiag.traffic.engine.bodies.facts import FAILED, FULL, Facts
from netdiag.traffic.engine.bodies.payloads import LIMIT, Bytes, Record, Unread, records_of
from netdiag.traffic.engine.headers import RequestHeader
from netdiag.traffic.engine.topic_ids import TopicIds
from netdiag.traffic.rows import RecordRow

MOST_SHOWN = 4096
"""So many bytes of a key, of a value, of the name and of the value of a header are shown."""
MOST_RECORDS = 200_000
MOST_BYTES = 64 << 20
"""So many records, and bytes of keys, values and headers, are held until they are drained."""
KEEP_WHOLE = 16 << 20
"""A message up to this size is kept whole where payloads are wanted."""

TEXT, BASE64 = "text", "base64"
_CONTROL = frozenset(map(chr, (*range(9), 11, 12, *range(14, 32), *range(127, 160))))
_decoder = getincrementaldecoder("utf-8")


class Payloads:
    """Makes rows until there is no more room; `topics`: only of these."""

    def __init__(self, topics: frozenset[str] = frozenset()) -> None:
        self._topics = topics
        self.drained()

    def drained(self) -> None:
        """The rows so far were taken."""
        self._records, self._bytes = MOST_RECORDS, MOST_BYTES

    def rows(
        self, facts: Facts, time: int, connection: int, header: RequestHeader, ids: TopicIds, *, produced: bool
    ) -> Iterator[RecordRow | Unread]:
        """The records that a message carries; in a request the broker has not given them offsets yet."""
        if facts.decoded == FAILED:
            return
        start = (time, connection, header.correlation_id, header.api_key, header.client_id)
        seen = 0
        for named, partition, data, size in facts.pieces:
            seen += size
            topic, number = ids.both(named)
            if self._topics and ids.shown(named) not in self._topics:
                continue
            yield from self._partition((*start, topic, number, partition), data, size, produced)
        missed = (facts.record_bytes or 0) - seen
        if missed > 0 and facts.decoded == FULL:
            yield Unread(LIMIT, missed, "records of a message that is too large to keep")

    def _partition(
        self, start: tuple[object, ...], data: bytes, size: int, produced: bool
    ) -> Iterator[RecordRow | Unread]:
        for number, each in enumerate(records_of(data, size)):
            if isinstance(each, Unread):
                yield each
                continue
            self._records -= 1
            self._bytes -= _weight(each)
            if self._records < 0 or self._bytes < 0:
                yield Unread(LIMIT, size, f"records of a partition from its record {number + 1} on")
                return
            yield _row(start, each, produced)


def _weight(record: Record) -> int:
    parts = (record.key, record.value, *(part for header in record.headers for part in header))
    return sum(min(len(part), MOST_SHOWN) for part in parts if part)


def _row(start: tuple[object, ...], record: Record, produced: bool) -> RecordRow:
    key, key_encoding = shown(record.key)
    value, value_encoding = shown(record.value)
    return RecordRow._make(
        (
            *start,
            None if produced else record.offset,
            record.offset_delta,
            record.timestamp,
            key,
            key_encoding,
            None if record.key is None else len(record.key),
            value,
            value_encoding,
            None if record.value is None else len(record.value),
            tuple(map(_header, record.headers)) or None,
            record.codec,
            record.producer_id,
        )
    )


def _header(pair: tuple[bytes, Bytes]) -> str:
    name, _ = shown(pair[0])
    value, encoding = shown(pair[1])
    return f"{name}" if value is None else f"{name}=base64:{value}" if encoding == BASE64 else f"{name}={value}"


def shown(data: Bytes) -> tuple[str | None, str | None]:
    """The beginning of some bytes, and how it is written: UTF-8 without control characters as it is."""
    if data is None:
        return None, None
    head = data[:MOST_SHOWN]
    try:
        text = _decoder().decode(head, len(head) == len(data))
    except UnicodeDecodeError:
        text = None
    if text is None or not _CONTROL.isdisjoint(text):
        return b64encode(head).decode(), BASE64
    return text, TEXT
