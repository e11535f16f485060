"""The steps through a message that passes by: a generator that asks for bytes, and what it makes of them.

It yields how many bytes it wants and is sent exactly these, or below 0 how many are to be stepped over. `Lost` is
thrown into it where bytes that it wants are not in the capture: inside of records it steps over their rest, elsewhere
it gives up. The facts are those that `read` gives for the same bytes in one piece.
"""

from collections.abc import Generator
from struct import Struct
from typing import Any

from netdiag.kafka.protocol import Direction, Field, Layout
from netdiag.kafka.protocol.table import SIZES
from netdiag.traffic.engine.bodies import roles
from netdiag.traffic.engine.bodies.facts import (
    TRUNCATED,
    BatchFacts,
    EndpointFacts,
    PartitionFacts,
    RequestFacts,
    ResponseFacts,
)
from netdiag.traffic.engine.bodies.records import summarise
from netdiag.traffic.engine.bodies.source import CODES

MOST_ROWS = 50_000
"""So many partitions, topics and addresses of one message are told."""
_LONGEST_STRING = 32_767
_START = Struct(">qi4xb")
_HEADERS = {0: 18, 1: 26, 2: 61}
"""How many bytes of a message (magic 0 and 1) or a batch (2) are looked at."""
_LEAST = {0: 26, 1: 34, 2: 61}
_NUMBERS = {kind: Struct(">" + code) for kind, code in CODES.items()}
_SUMMARY = ("record_bytes", "records", "last_offset", "max_timestamp")

Steps = Generator[int, bytes, Any]


class Lost(Exception):
    """Bytes that were asked for are not in the capture."""


class Impossible(Exception):
    """The bytes cannot be the message that they should be."""


class Reader:
    """Takes the steps; `position` is behind the bytes that were asked for last."""

    def __init__(self, api_key: int, direction: Direction, declared: int, wanted: frozenset[str]) -> None:
        self.position = 0
        self.facts = RequestFacts() if direction is Direction.REQUEST else ResponseFacts()
        self._api_key = api_key
        self._direction = direction
        self._declared = declared
        self._wanted = wanted
        self._least = 0
        self._is_last = False
        self._topics: list[str | bytes] = []
        self._partitions: list[PartitionFacts] = []
        self._endpoints: list[EndpointFacts] = []
        self._batches: list[BatchFacts] | None = [] if "batches" in wanted else None
        self.facts.records = self.facts.record_bytes = 0
        self.facts.topics, self.facts.partitions, self.facts.batches = (
            self._topics,
            self._partitions,
            self._batches or (),
        )
        if self._batches is not None:
            self.facts.batches = self._batches
        if isinstance(self.facts, ResponseFacts):
            self.facts.endpoints = self._endpoints

    def finish(self) -> None:
        """The message was read to its end."""
        if isinstance(self.facts, ResponseFacts):
            self.facts.error_code = self.facts.error_code or 0
            self.facts.empty = not self.facts.record_bytes

    def stop(self, decoded: str) -> None:
        """The message is not read any further; how many records it has is known if less follows than they take."""
        self.facts.decoded = decoded
        if isinstance(self.facts, ResponseFacts):
            self.facts.empty = False if self.facts.record_bytes else None
        if decoded != TRUNCATED or not self._is_last:
            self.facts.records = self.facts.record_bytes = None

    def message(self, layout: Layout) -> Steps:
        """The whole body."""
        yield from self._struct(layout, "", {})

    # Structs and fields; `inside` has the values of the row, or of the message, by their path.

    def _struct(self, layout: Layout, path: str, inside: dict[str, Any]) -> Steps:
        for field in layout.fields:
            yield from self._field(field, f"{path}.{field.name}" if path else field.name, inside)
        if layout.flexible:
            yield from self._tags(layout, path, inside)

    def _tags(self, layout: Layout, path: str, inside: dict[str, Any]) -> Steps:
        count = yield from self._varint()
        if count * 2 > self._declared - self.position:
            raise Impossible
        for _ in range(count):
            tag = yield from self._varint()
            size = yield from self._varint()
            end = self.position + size
            if end > self._declared:
                raise Impossible
            if tag in layout.tagged:
                field = layout.tagged[tag]
                yield from self._field(field, f"{path}.{field.name}" if path else field.name, inside)
                if self.position != end:
                    raise Impossible
            else:
                yield from self._over(size)

    def _field(self, field: Field, path: str, inside: dict[str, Any]) -> Steps:
        if field.array:
            yield from self._array(field, path, inside)
        elif field.layout is not None:
            if not field.nullable or (yield from self._number("int8")) >= 0:
                yield from self._struct(field.layout, path, inside)
        elif field.kind == "records":
            yield from self._records(field, path, inside)
        elif field.kind == "bytes":
            yield from self._over((yield from self._length(field)))
        else:
            value = yield from (self._string(field) if field.kind == "string" else self._number(field.kind))
            inside[path] = value
            self._tells(path, value, inside)

    def _tells(self, path: str, value: Any, inside: dict[str, Any]) -> None:
        """What a field says by itself."""
        attribute = roles.SCALARS[self._direction].get(path)
        if attribute is not None:
            setattr(self.facts, attribute, value)
        last = path.rpartition(".")[2]
        if isinstance(self.facts, ResponseFacts) and roles.is_error_code(last):
            self.facts.error_code = self.facts.error_code or value
        if last == "topic_id" or roles.is_topic_name(self._api_key, path):
            inside["topic"] = value
            if value and value != bytes(16) and len(self._topics) < MOST_ROWS:
                self._topics.append(value)

    def _array(self, field: Field, path: str, outside: dict[str, Any]) -> Steps:
        count = yield from self._length(field)
        if count * field.min_size > self._declared - self.position:
            raise Impossible
        if field.kind in SIZES:
            yield from self._over(count * SIZES[field.kind])
            return
        row = roles.row_of(self._api_key, self._direction, path)
        if row is not None and "records" in row.columns:
            self._least = field.min_size
        for _ in range(count):
            if field.layout is None:
                yield from self._string(field)
                continue
            inside = {"topic": outside.get("topic")}
            try:
                yield from self._struct(field.layout, path, inside)
            finally:
                if row is not None and f"{path}.{row.needs}" in inside:
                    self._add(row, path, inside)

    def _add(self, row: roles.Row, path: str, inside: dict[str, Any]) -> None:
        """Make a row of what was read of its struct."""
        columns = {column: inside.get(f"{path}.{name}") for name, column in row.columns.items()}
        if row.kind is PartitionFacts and "partitions" in self._wanted and len(self._partitions) < MOST_ROWS:
            columns |= {"topic": inside["topic"], "group": None}
            columns |= dict(zip(_SUMMARY, inside.get("summary", (None,) * 4), strict=True))
            self._partitions.append(PartitionFacts(*map(columns.get, PartitionFacts._fields)))  # type: ignore[arg-type]
        elif row.kind is EndpointFacts and "endpoints" in self._wanted and len(self._endpoints) < MOST_ROWS:
            self._endpoints.append(EndpointFacts(*map(columns.get, EndpointFacts._fields)))  # type: ignore[arg-type]

    # Records.

    def _records(self, field: Field, path: str, inside: dict[str, Any]) -> Steps:
        size = max(0, (yield from self._length(field)))
        end = self.position + size
        if end > self._declared:
            raise Impossible
        assert self.facts.record_bytes is not None
        self.facts.record_bytes += size
        row = roles.row_of(self._api_key, self._direction, path.rpartition(".")[0])
        assert row is not None
        topic, partition = inside["topic"], inside[f"{path.rpartition('.')[0]}.{row.needs}"]
        total: list[int | None] = [size, 0, None, None]
        try:
            yield from self._batches_until(end, topic, partition, total)
        except Lost:
            total[1] = None
            yield from self._over(end - self.position)
        finally:
            # also where the message ends here: then not all batches were seen, but for the last one
            if self.position < end:
                total[1] = None
            inside["summary"] = total
            told = self.facts.records
            self.facts.records = None if told is None or total[1] is None else told + total[1]
            self._is_last = self._declared - end < self._least

    def _batches_until(self, end: int, topic: Any, partition: int, total: list[int | None]) -> Steps:
        """The batches of one partition, each by its header; `total` is size, records, last offset, latest time."""
        while self.position < end:
            left = end - self.position
            head = yield min(left, _START.size)
            _, length, magic = _START.unpack(head) if left >= _START.size else (0, 0, 2)
            size = 12 + length
            more = min(left, _HEADERS.get(magic, 0)) - len(head)
            if more > 0:
                head += yield more
            known = magic in _HEADERS and size >= _LEAST[magic]
            stop = min(size, left) if known else left
            records, last, latest = summarise(head, 0, stop, len(head), topic, partition, self._batches)
            total[1] = None if total[1] is None or records is None else total[1] + records
            total[2] = total[2] if last is None else last
            total[3] = latest if total[3] is None else max(total[3], latest or 0)
            if not known or (records is None and magic == 2):
                yield from self._over(end - self.position)
                return
            yield from self._over(stop - len(head))

    # What fields are made of.

    def _over(self, count: int) -> Steps:
        """Step over bytes."""
        if count > 0:
            yield -count

    def _number(self, kind: str) -> Steps:
        if kind == "uuid":
            return (yield 16)
        reader = _NUMBERS[kind]
        return reader.unpack((yield reader.size))[0]

    def _string(self, field: Field) -> Steps:
        length = yield from self._length(field, "string")
        if length > _LONGEST_STRING:
            raise Impossible
        if length <= 0:
            return None if length < 0 else ""
        return (yield length).decode("utf-8", "replace")

    def _length(self, field: Field, kind: str = "") -> Steps:
        """A length or a count; -1 is null."""
        short = (kind or field.kind) == "string" and (bool(kind) or not field.array)
        if field.compact:
            length = (yield from self._varint()) - 1
        else:
            length = yield from self._number("int16" if short else "int32")
        if length < -1:
            raise Impossible
        return length

    def _varint(self) -> Steps:
        value = 0
        for shift in range(0, 35, 7):
            byte = (yield 1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80 and value <= 0xFFFFFFFF:
                return value
        raise Impossible
