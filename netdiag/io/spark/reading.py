"""What one task reads of captures: every packet, and of the connections those of its class.

A class is told by the number of a connection, which is a hash; all tasks see all packets, so that each can tell which
connection a packet belongs to, and the tasks together give every row once, however many there are.
"""

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from netdiag.io.files.captures import capture_files
from netdiag.traffic import native
from netdiag.traffic.folds import PIECES, Selection
from netdiag.traffic.latencies import EXCHANGE_COLUMNS, latencies
from netdiag.traffic.native import ReadOptions
from netdiag.values import dataclass

Batches = Mapping[str, Sequence[pa.RecordBatch]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Which captures, from when to when, and what of them; `names` is what the files are called in the rows.

    `folds`: what is folded of exchanges, partitions and batches comes as well (see `netdiag.traffic.folds`), of this
    selection of them; of all the `pieces` that there are of folds, these.
    """

    paths: tuple[str, ...]
    names: tuple[str, ...] = ()
    since_ns: int | None = None
    until_ns: int | None = None
    options: ReadOptions
    folds: Selection | None = None
    pieces: tuple[str, ...] = PIECES

    @property
    def folded(self) -> native.Folded | None:
        """What the engine is to fold, if anything."""
        if self.folds is None:
            return None
        return native.Folded(pieces=self.pieces, relays=self.folds.relays, names=self.folds.names)

    def share(self, number: int, of: int) -> "Reading":
        """The part of one task of so many."""
        return replace(self, options=replace(self.options, flow_class=(number, of)))


@dataclasses.dataclass(frozen=True, slots=True)
class Progress:
    """How far a task is: `read` bytes of the files, `packets`, the times of the first and the last of them."""

    read: int = 0
    packets: int = 0
    first: int | None = None
    last: int | None = None


def read_batches(
    reading: Reading,
    columns: Mapping[str, Sequence[str]] | None = None,
    tell: Callable[[Progress], None] | None = None,
) -> Iterator[Batches]:
    """The rows of the tables that are wanted and of folds, as they become ready, with times in microseconds.

    `columns` are those of a table that are wanted; `tell` hears from time to time how far it is.
    """
    read = native.read(
        capture_files(reading.paths),
        reading.options,
        columns=columns,
        names=reading.names or None,
        unit="us",
        since_ns=reading.since_ns,
        until_ns=reading.until_ns,
        folded=reading.folded,
        tell=None if tell is None else lambda *far: tell(Progress(*far)),
    )
    for ready in read:
        yield {name: [pa.record_batch(batch) for batch in batches] for name, batches in ready.items()}


def read_latencies(reading: Reading) -> Iterator[pa.RecordBatch]:
    """The exchanges of one task summed up: rows of `latencies`, to be added to those of the other tasks."""
    only = replace(reading, options=replace(reading.options, tables=frozenset({"exchanges"})))
    ready = read_batches(only, {"exchanges": EXCHANGE_COLUMNS})
    yield from latencies(batch for batches in ready for batch in batches.get("exchanges", ()))
