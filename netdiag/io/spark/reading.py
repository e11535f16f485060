"""What one task reads of captures: every packet, and of the connections those of its class.

A class is told by the number of a connection, which is a hash; all tasks see all packets, so that each can tell which
connection a packet belongs to, and the tasks together give every row once, however many there are.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from netdiag.io.captures import Captures
from netdiag.io.kernels import Kind, chosen
from netdiag.traffic.arrow import BATCH, record_batch
from netdiag.traffic.engine.addresses import endpoint_text
from netdiag.traffic.engine.links import decode_packet
from netdiag.traffic.engine.options import EngineOptions
from netdiag.traffic.engine.packet import Segment
from netdiag.traffic.engine.run import Engine
from netdiag.traffic.partial_batches import COLUMNS, LatencyBatches
from netdiag.traffic.rows import PacketRow, SegmentRow
from netdiag.traffic.tables import RAW_NAMES, TOGETHER, table

if TYPE_CHECKING:
    from netdiag.io.compiled_tables import Ready

Row = tuple[Any, ...]
Rows = Mapping[str, Sequence[Row]]
Batches = Mapping[str, Sequence[pa.RecordBatch]]
# So many packets are read between two looks at the clock and at the rows that are ready.
_STRIDE = 1000
_TELL_EVERY = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Which captures, from when to when, and what of them; `names` is what the files are called in the rows."""

    paths: tuple[str, ...]
    names: tuple[str, ...] = ()
    since_ns: int | None = None
    until_ns: int | None = None
    options: EngineOptions

    def share(self, number: int, of: int) -> "Reading":
        """The part of one task of so many."""
        return replace(self, options=replace(self.options, flow_class=(number, of)))

    def captures(self) -> Captures:
        """The files, looked for."""
        return Captures(self.paths, since_ns=self.since_ns, until_ns=self.until_ns)


@dataclass(slots=True)
class Progress:
    """How far a task is: `read` bytes of the files, `packets`, the times of the first and the last of them."""

    read: int = 0
    packets: int = 0
    first: int | None = None
    last: int | None = None


def _silent(progress: Progress) -> None:
    del progress


def read_tables(reading: Reading, tell: Callable[[Progress], None] = _silent) -> Iterator[Rows]:
    """The rows of the tables that are wanted, as they become ready; `tell` hears from time to time how far it is."""
    yield from _plain(reading, reading.captures(), tell)


def read_batches(
    reading: Reading, columns: Mapping[str, Sequence[str]] | None = None, tell: Callable[[Progress], None] = _silent
) -> Iterator[Batches]:
    """The same as record batches with times in microseconds; `columns` are those of a table that are wanted."""
    captures = reading.captures()
    wanted = {name: tuple(table(name).names) for name in reading.options.tables} | dict(columns or {})
    held = _Held(wanted)
    if chosen(captures, payloads=reading.options.payloads) is Kind.PYTHON:
        for rows in _plain(reading, captures, tell):
            yield held.add(rows)
    else:
        for ready in _compiled(reading, captures, wanted, tell):
            yield held.add(ready.rows)
            yield ready.batches
    yield held.rest()


def _plain(reading: Reading, captures: Captures, tell: Callable[[Progress], None]) -> Iterator[Rows]:
    engine = Engine(reading.options, reading.names or [file.name for file in captures.files])
    progress, clock = Progress(), _Clock(tell)
    feed = engine.feed
    for packet in captures.packets():
        feed(packet)
        progress.packets += 1
        progress.last = packet.time if progress.last is None else max(progress.last, packet.time)
        progress.first = packet.time if progress.first is None else min(progress.first, packet.time)
        if progress.packets % _STRIDE == 0:
            yield engine.drain()
            clock.look(progress, captures)
    captures.finish(engine)
    yield engine.drain()
    clock.tell(progress, captures)


def _compiled(
    reading: Reading, captures: Captures, columns: Mapping[str, Sequence[str]], tell: Callable[[Progress], None]
) -> Iterator["Ready"]:
    from netdiag.io import compiled_tables  # numba, which takes its time
    from netdiag.io.kept_programs import kept_programs

    seen, progress, clock = compiled_tables.Seen(), Progress(), _Clock(tell)
    options, names = reading.options, reading.names
    for ready in compiled_tables.read_tables(
        captures,
        options,
        names=names,
        columns=columns,
        unit="us",
        seen=seen,
        programs=kept_programs(options.tables),
    ):
        yield ready
        progress.packets, progress.first, progress.last = seen.packets, seen.first, seen.last
        clock.look(progress, captures)
    clock.tell(progress, captures)


class _Clock:
    """Tells how far a task is, now and then."""

    def __init__(self, tell: Callable[[Progress], None]) -> None:
        self._tell = tell
        self._told = time.monotonic()

    def look(self, progress: Progress, captures: Captures) -> None:
        if time.monotonic() - self._told > _TELL_EVERY:
            self.tell(progress, captures)
            self._told = time.monotonic()

    def tell(self, progress: Progress, captures: Captures) -> None:
        progress.read = sum(file.read_bytes for file in captures.files)
        self._tell(progress)


class _Held:
    """Rows until they are worth a batch; tables whose rows are of the same exchanges are given together."""

    def __init__(self, columns: Mapping[str, Sequence[str]]) -> None:
        self._columns = columns
        self._rows: dict[str, list[Row]] = {name: [] for name in columns}

    def add(self, rows: Rows) -> Batches:
        """Take rows, give what is large by now."""
        for name, more in rows.items():
            self._rows[name] += more
        return self._given(BATCH)

    def rest(self) -> Batches:
        """What is left."""
        return self._given(1)

    def _given(self, least: int) -> Batches:
        given = {}
        together = max((len(self._rows[name]) for name in TOGETHER if name in self._rows), default=0)
        for name, rows in self._rows.items():
            if rows and (together if name in TOGETHER else len(rows)) >= least:
                given[name] = [record_batch(table(name), rows, self._columns[name], unit="us")]
                self._rows[name] = []
        return given


def read_latencies(reading: Reading) -> Iterator[pa.RecordBatch]:
    """The exchanges of one task summed up: rows of `latencies`, to be added to those of the other tasks."""
    only = replace(reading, options=replace(reading.options, tables=frozenset({"exchanges"})))
    sums = LatencyBatches()
    for ready in read_batches(only, {"exchanges": COLUMNS}):
        for batch in ready.get("exchanges", ()):
            yield from sums.add(batch)
    yield from sums.drain()


def read_raw(reading: Reading, name: str) -> Iterator[Row]:
    """The rows of `packets` or `segments`: of so many tasks each takes every n-th packet."""
    captures = reading.captures()
    names = [file.name for file in captures.files]
    number, of = reading.options.flow_class
    ports = reading.options.ports
    row_of = {"packets": _packet, "segments": _segment}[name]
    for packet in captures.packets():
        if packet.number % of != number:
            continue
        if not ports and name == "packets":
            yield _packet(packet, names)
            continue
        segment = decode_packet(packet)
        if isinstance(segment, Segment) and (
            not ports or segment.source_port in ports or segment.destination_port in ports
        ):
            yield row_of(packet if name == "packets" else segment, names)


def is_raw(name: str) -> bool:
    """Whether a table is made without the engine."""
    return name in RAW_NAMES


def _packet(packet: Any, names: Sequence[str]) -> Row:
    return PacketRow(
        packet.time,
        names[packet.file],
        packet.number,
        packet.interface,
        packet.link_type,
        packet.length,
        len(packet.data),
    )


def _segment(segment: Any, names: Sequence[str]) -> Row:
    return SegmentRow(
        segment.time,
        names[segment.file],
        segment.number,
        segment.interface,
        endpoint_text(segment.source, segment.source_port),
        endpoint_text(segment.destination, segment.destination_port),
        segment.sequence,
        segment.acknowledgement,
        segment.flags & 0x1F,
        segment.window,
        segment.length,
        len(segment.payload),
    )
