"""The tables out of captures by the compiled engine: record batches of what is large, rows of what is small."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any, NamedTuple

import pyarrow as pa

from netdiag.io.behind import Behind
from netdiag.io.captures import Captures
from netdiag.io.chunks import read_chunks
from netdiag.traffic.arrow import Unit
from netdiag.traffic.engine.compiled.columns import Columns
from netdiag.traffic.engine.compiled.front import Chunk, Front
from netdiag.traffic.engine.compiled.front_keys import Keys
from netdiag.traffic.engine.compiled.program import Programs
from netdiag.traffic.engine.compiled.run import CompiledEngine
from netdiag.traffic.engine.options import EngineOptions
from netdiag.traffic.engine.sample import sample_pcap, sample_pcapng

# Rows that are worth a batch while more are to come.
LEAST = 1 << 14
# So many chunks are read before somebody hears of it, even if nothing is ready.
_TELL_EVERY = 16
MOST_OPEN = 1 << 17
"""So many connections are held open at a time: in arrays they take a tenth of what they take as objects."""


class Ready(NamedTuple):
    """Batches by table, and rows by table of those tables that the plain engine keeps."""

    batches: Mapping[str, Sequence[pa.RecordBatch]]
    rows: Mapping[str, Sequence[tuple[Any, ...]]]


class Seen:
    """How far it is: packets, and the times of the first and the last of them."""

    def __init__(self) -> None:
        self.packets = 0
        self.first: int | None = None
        self.last: int | None = None

    def add(self, packets: int, first: int, last: int) -> None:
        """So many more."""
        self.packets += packets
        self.first = first if self.first is None else min(self.first, first)
        self.last = last if self.last is None else max(self.last, last)


def read_tables(
    captures: Captures,
    options: EngineOptions,
    *,
    names: Sequence[str] = (),
    columns: Mapping[str, Sequence[str]] | None = None,
    unit: Unit = "ns",
    seen: Seen | None = None,
    least: int = LEAST,
    beside: bool = False,
    programs: Programs | None = None,
) -> Generator[Ready, None, None]:
    """The tables of `options`, with all columns where `columns` does not say which; as they become ready.

    `beside`: rows are made in a thread of their own, beside the one that pairs messages. `programs`: those of these
    tables, where they are there already.
    """
    files = names or [file.name for file in captures.files]
    options = replace(options, max_connections=max(MOST_OPEN, options.max_connections))
    made = Columns(options, files, unit, columns=columns)
    with _beside(made, least) if beside else nullcontext() as behind:
        engine = CompiledEngine(options, files, behind or made, programs)
        for number, each in enumerate(read_chunks(captures, Keys()), 1):
            if isinstance(each, Chunk):
                engine.feed(each)
                if seen is not None and len(each.packets):
                    times = each.packets["time"]
                    seen.add(len(times), int(times.min()), int(times.max()))
            else:
                engine.feed_packet(each)
                if seen is not None:
                    seen.add(1, each.time, each.time)
            ready = Ready(made.drain(least) if behind is None else behind.drain(), engine.drain())
            if number % _TELL_EVERY == 0 or any(ready.batches.values()) or any(ready.rows.values()):
                yield ready
        captures.finish(engine)
    if behind is not None:
        yield Ready(behind.drain(), {})
    yield Ready(made.drain(), engine.drain())


@contextmanager
def _beside(columns: Columns, least: int) -> Iterator[Behind]:
    behind = Behind(columns, least)
    try:
        yield behind
    finally:
        behind.stop()


def read_sample() -> int:
    """Compile what is not compiled yet, by reading captures that have every usual thing; gives how many exchanges."""
    count = 0
    options = EngineOptions()
    for data in (sample_pcap(), sample_pcapng()):
        columns = Columns(options, ["sample"])
        engine = CompiledEngine(options, ["sample"], columns)
        front = Front(Keys())
        for chunk in (front.take(data), front.end()):
            engine.feed(chunk)
        engine.finish()
        count += sum(batch.num_rows for batch in columns.drain()["exchanges"])
    return count
