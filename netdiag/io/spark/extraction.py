"""The engine once over all captures: every task writes its rows of tables and its folds as Parquet, beside one another.

Rows do not pass through Java: what tasks hand back is a line of account each. A part is written in a folder of attempts
and moved when it is whole, under a name that says which part it is. What a second attempt or a speculative one writes
is the same; the first that is there stays. The folder of attempts goes before anybody looks, so that what an attempt
that was killed has left is never seen, and a late one has no place to write to.
"""

import ctypes
import gc
import os
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from netdiag.errors import NetdiagError
from netdiag.io.spark.hadoop_files import located
from netdiag.io.spark.reading import Progress, Reading, read_batches
from netdiag.io.spark.session import translated_errors
from netdiag.io.spark.small_tables import frame_of, may_name, rows_at
from netdiag.traffic.aggregates.expressions import struct_of_arrow
from netdiag.traffic.analysis import Seen
from netdiag.traffic.arrow import BATCH, schema_of
from netdiag.traffic.folds import Selection
from netdiag.traffic.relays import relays_among
from netdiag.traffic.tables import NAMES, TOGETHER, table
from netdiag.values import dataclass

_PROGRESS = ".progress"
_ATTEMPTS = ".attempts"
FOLDS = ".folds"
_LOOK_EVERY = 0.3
# So many rows of all tables together are sent along with every question.
_FEW = 20_000
# Options of malloc.h: how many heaps; from which size on memory goes back at once, and how much of a heap may be free.
_MALLOC = {-8: 1, -3: 1 << 20, -1: 1 << 23}


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    """The tables as DataFrames over what was written, how many rows each has, and what was read for it.

    `may_relay` and `may_name` are False where it is known that there are no relays, and no topics to name.
    `is_in_memory`: the tables are few rows that go along with every question. `folder`: where folds lie and the tables
    that are not folded; None where whole tables are asked. `refold`: writes the folds anew, of this selection.
    """

    tables: dict[str, DataFrame]
    rows: dict[str, int]
    seen: Seen
    may_relay: bool = True
    may_name: bool = True
    is_in_memory: bool = False
    folder: str | None = None
    refold: Callable[[Selection], None] | None = None


def extract(
    spark: SparkSession,
    reading: Reading,
    folder: str,
    *,
    tasks: int,
    size: int,
    tell: Callable[[float, int], None] | None = None,
    write: Callable[[Reading, str, int], dict[str, Any]] | None = None,
) -> Extract:
    """Run the engine in so many tasks; `tell` hears the share of `size` bytes and the packets that are read.

    `write` is what a task does, `write_task` unless it is another function.
    """
    work = write or write_task
    numbers = spark.sparkContext.parallelize(range(tasks), tasks)

    def run(reading: Reading) -> list[dict[str, Any]]:
        _make_folders(reading, folder)
        with _watched(folder, tasks, size, tell), translated_errors():
            shares = numbers.map(lambda number: work(located(reading.share(number, tasks)), folder, number))
            accounts: list[dict[str, Any]] = shares.collect()
        _drop_folders(folder)
        if any(len(list(place.glob("part-*.parquet"))) != tasks for place in _places(reading, folder)):
            hint = "give --out a folder that all share"
            raise NetdiagError("what the executors wrote is not visible here", where=folder, hint=hint)
        return accounts

    accounts = run(reading)
    tables = {} if reading.folds else written(spark, folder)
    return _extract(tables, accounts, reading, size, folder, lambda chosen: _refold(run, reading, folder, chosen))


def extract_here(
    reading: Reading, folder: str, tell: Callable[[Progress], None] = lambda progress: None
) -> dict[str, Any]:
    """Run the engine in this process, without Spark: the one part of all tables, and its account for `opened`."""
    _make_folders(reading, folder)
    account = write_part(reading, folder, 0, tell)
    _drop_folders(folder)
    return account


def _refold(run: Callable[[Reading], Any], reading: Reading, folder: str, selection: Selection) -> None:
    shutil.rmtree(Path(folder, FOLDS), ignore_errors=True)
    run(replace(reading, options=replace(reading.options, tables=frozenset()), folds=selection))


def opened(spark: SparkSession, account: Mapping[str, Any], reading: Reading, folder: str, *, size: int) -> Extract:
    """What `extract_here` wrote."""
    if reading.folds:

        def again(selection: Selection) -> None:
            _refold(lambda chosen: extract_here(chosen, folder), reading, folder, selection)

        return _extract({}, [account], reading, size, folder, again)
    return with_tables(spark, _extract({}, [account], reading, size, folder), folder)


def with_tables(spark: SparkSession, made: Extract, folder: str) -> Extract:
    """With the tables there; few rows are given to Spark as they are, which saves it looking into files."""
    if sum(made.rows.values()) > _FEW:
        return replace(made, tables=written(spark, folder))
    parts = {name: rows_at(folder, name) for name in NAMES}
    return replace(
        made,
        tables={name: frame_of(spark, part) for name, part in parts.items()},
        may_relay=bool(relays_among(parts["connections"])),
        may_name=may_name(parts),
        is_in_memory=True,
    )


def written(spark: SparkSession, folder: str, names: Iterable[str] = NAMES) -> dict[str, DataFrame]:
    """The tables there; Spark, were it not told what is in them, would have a task look into a file of each."""
    shapes = {name: struct_of_arrow(schema_of(table(name), unit="us")) for name in names}
    return {name: spark.read.schema(shapes[name]).parquet(Path(folder, name).as_uri()) for name in shapes}


def _places(reading: Reading, folder: str) -> list[Path]:
    """Where parts are written."""
    tables = [Path(folder, name) for name in NAMES if name in reading.options.tables]
    return [*tables, *(Path(folder, FOLDS, name) for name in (reading.pieces if reading.folds else ()))]


def _make_folders(reading: Reading, folder: str) -> None:
    for place in (*_places(reading, folder), Path(folder, _PROGRESS), Path(folder, _ATTEMPTS)):
        place.mkdir(parents=True, exist_ok=True)


def _drop_folders(folder: str) -> None:
    for name in (_ATTEMPTS, _PROGRESS):
        shutil.rmtree(Path(folder, name), ignore_errors=True)


def _extract(
    tables: dict[str, DataFrame],
    accounts: Sequence[Mapping[str, Any]],
    reading: Reading,
    size: int,
    folder: str,
    refold: Callable[[Selection], None] | None = None,
) -> Extract:
    firsts, lasts = ([account[key] for account in accounts if account[key] is not None] for key in ("first", "last"))
    return Extract(
        tables=tables,
        rows={name: sum(account["rows"].get(name, 0) for account in accounts) for name in NAMES},
        folder=folder if reading.folds else None,
        refold=refold,
        seen=Seen(
            files=reading.names or reading.paths,
            bytes=size,
            packets=max(account["packets"] for account in accounts),
            first=min(firsts, default=None),
            last=max(lasts, default=None),
        ),
    )


def write_task(reading: Reading, folder: str, number: int) -> dict[str, Any]:
    """One task: its class of connections, as `write_part`, while others do the same beside it."""
    share_memory()
    account = write_part(reading, folder, number)
    # The same process goes on to something else.
    give_memory_back()
    return account


def write_part(
    reading: Reading, folder: str, number: int, tell: Callable[[Progress], None] = lambda progress: None
) -> dict[str, Any]:
    """A class of connections as one file per table and per fold."""
    last = Progress()

    def note(progress: Progress) -> None:
        nonlocal last
        last = progress
        tell(progress)
        with suppress(OSError):
            Path(folder, _PROGRESS, str(number)).write_text(f"{progress.read} {progress.packets}", encoding="ascii")

    def part(name: str, schema: pa.Schema) -> _Part:
        return _Part(folder, name if name in NAMES else f"{FOLDS}/{name}", number, schema)

    tables = reading.options.tables
    parts = {name: part(name, schema_of(table(name), unit="us")) for name in NAMES if name in tables}
    try:
        for ready in read_batches(reading, tell=note):
            for name, batches in ready.items():
                for batch in batches:
                    if name not in parts:
                        parts[name] = part(name, batch.schema)
                    parts[name].add(batch)
            _write_large(parts)
        for each in parts.values():
            each.finish()
    finally:
        for each in parts.values():
            each.drop()
    counts = {name: each.rows for name, each in parts.items()}
    return {"packets": last.packets, "first": last.first, "last": last.last, "rows": counts}


def _write_large(parts: Mapping[str, "_Part"]) -> None:
    """Write what waits and is large; tables with rows of the same exchanges have the same in a row group each."""
    together = any(parts[name].is_large for name in TOGETHER if name in parts)
    for name, part in parts.items():
        if together if name in TOGETHER else part.is_large:
            part.write()


class _Part:
    """The rows of one table, or of one fold, in one task."""

    def __init__(self, folder: str, name: str, number: int, schema: pa.Schema) -> None:
        self._path = Path(folder, name, f"part-{number:05d}.parquet")
        self._temporary = Path(folder, _ATTEMPTS, f"{self._path.parent.name}-{number:05d}-{uuid4().hex}.parquet")
        self._writer = pq.ParquetWriter(self._temporary, schema, compression="zstd")
        self._held: list[pa.RecordBatch] = []
        self._waiting = 0
        self._is_open = True
        self.rows = 0

    def add(self, batch: pa.RecordBatch) -> None:
        self._held.append(batch)
        self._waiting += batch.num_rows
        self.rows += batch.num_rows

    @property
    def is_large(self) -> bool:
        return self._waiting >= BATCH

    def write(self) -> None:
        """What waits, as a row group, even one without rows."""
        waiting = pa.Table.from_batches(self._held, self._writer.schema)
        self._writer.write_table(waiting, row_group_size=max(1, waiting.num_rows))
        self._held, self._waiting = [], 0

    def finish(self) -> None:
        self.write()
        self._close()
        if not self._path.exists():
            os.replace(self._temporary, self._path)

    def drop(self) -> None:
        """Leave nothing behind of a part that was not finished."""
        self._close()
        with suppress(FileNotFoundError):
            self._temporary.unlink()

    def _close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._writer.close()


@contextmanager
def _watched(folder: str, tasks: int, size: int, tell: Callable[[float, int], None] | None) -> Iterator[None]:
    if tell is None:
        yield
        return
    done = threading.Event()

    def watch() -> None:
        while not done.wait(_LOOK_EVERY):
            read, packets = _read_so_far(folder)
            tell(min(1.0, read / max(1, size * tasks)), packets)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _read_so_far(folder: str) -> tuple[int, int]:
    """Bytes that all tasks together have read, and packets of the task that is furthest."""
    read, packets = 0, 0
    for path in Path(folder, _PROGRESS).glob("*"):
        with suppress(OSError, ValueError):
            bytes_read, seen = path.read_text(encoding="ascii").split()
            read += int(bytes_read)
            packets = max(packets, int(seen))
    return read, packets


def share_memory() -> None:
    """Have threads take memory from the same heap, and give it back: each of its own keeps 10 MB and more."""
    # No other C library than GNU's has this, nor such heaps.
    with suppress(AttributeError, OSError):
        library = ctypes.CDLL(None)
        for option, value in _MALLOC.items():
            library.mallopt(option, value)


def give_memory_back(*, collected: bool = True) -> None:
    """Have what is free in the heap go back, of which a process that goes on to something else has no need.

    What waits for Python to collect it is collected first, which takes 50 ms and more.
    """
    if collected:
        gc.collect()
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
