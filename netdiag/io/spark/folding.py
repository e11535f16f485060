"""Folded tables for an analysis: every part of the tables read once more in a task, and written small."""

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from netdiag.io.spark.extraction import give_memory_back, share_memory
from netdiag.io.spark.session import translated_errors
from netdiag.io.spark.small_tables import MOST, frame_of
from netdiag.traffic.aggregates.expressions import struct_of_arrow
from netdiag.traffic.folds.all_folds import ALL, LATER, SETTLED
from netdiag.traffic.folds.fold import Fold, merged
from netdiag.traffic.folds.parts import Part, Selection, fold_part, schema_of_folded, told_names, waiting
from netdiag.traffic.tables import NAMES

_FOLDS, _ATTEMPTS = ".folds", ".attempts"
# So many rows are read here where few may be left of them.
_SETTLED = 1_000_000
# After so many row groups what they took goes back: some 30 MB, where it takes 7 ms each time.
_TRIM_EVERY = 4
_EARLIER = {name: fold for name, fold in ALL.items() if name not in LATER}


@contextmanager
def folded_tables(
    spark: SparkSession, folder: str, parts: int, selection: Selection
) -> Iterator[tuple[dict[str, DataFrame], dict[str, int]]]:
    """Every fold of the tables in a folder, by its name, with how many rows it has; files that go at the end."""
    place = Path(folder, _FOLDS)
    for name in (*ALL, _ATTEMPTS):
        Path(place, name).mkdir(parents=True, exist_ok=True)
    try:
        numbers = spark.sparkContext.parallelize(range(parts), parts)
        with translated_errors():
            counts = numbers.map(lambda number: write_folds(folder, number, selection, _EARLIER)).collect()
            known = replace(selection, waiting=waiting(_read(place, "offsets")))
            if known.waiting.num_rows:
                counts += numbers.map(lambda number: write_folds(folder, number, known, LATER)).collect()
        shutil.rmtree(Path(place, _ATTEMPTS), ignore_errors=True)
        rows = {name: sum(count.get(name, 0) for count in counts) for name in ALL}
        folds = {name: _fold(spark, place, name, rows[name]) for name in ALL}
        yield {name: frame for name, (frame, _) in folds.items()}, {name: count for name, (_, count) in folds.items()}
    finally:
        shutil.rmtree(place, ignore_errors=True)


def names_told(spark: SparkSession, folder: str, parts: int, selection: Selection) -> dict[str, str]:
    """The topics by their ids, as far as the tables in a folder tell."""
    numbers = spark.sparkContext.parallelize(range(parts), parts)
    with translated_errors():
        every = numbers.map(lambda number: told_names(Part(_files(folder, number), selection))).collect()
    found: dict[str, str] = {}
    for key, topic in (pair for each in every for pair in each.items()):
        found[key] = min(found.get(key, topic), topic)
    return found


def write_folds(folder: str, number: int, selection: Selection, folds: Mapping[str, Fold] = ALL) -> dict[str, int]:
    """One task: folds of one part, each as one file; how many rows each has."""
    # Arrow's own pool keeps what is freed, and so does each thread's heap: half as much again.
    pa.set_memory_pool(pa.system_memory_pool())
    share_memory()
    place = Path(folder, _FOLDS)
    written = {name: _Written(place, name, number) for name in folds}
    try:
        fold_part(_Part(_files(folder, number), selection), lambda name, rows: written[name].add(rows), folds)
        for each in written.values():
            each.finish()
    finally:
        for each in written.values():
            each.drop()
    return {name: each.rows for name, each in written.items()}


class _Part(Part):
    """A part whose rows leave nothing behind in the heap: what is kept of them lies between what is free again."""

    def together(self, columns: Mapping[str, Iterable[str]]) -> Iterator[dict[str, pa.Table]]:
        """As that of a part."""
        for number, rows in enumerate(super().together(columns), 1):
            yield rows
            if number % _TRIM_EVERY == 0:
                give_memory_back(collected=False)


class _Written:
    """The rows of one fold in one task."""

    def __init__(self, place: Path, name: str, number: int) -> None:
        self._path = Path(place, name, f"part-{number:05d}.parquet")
        self._temporary = Path(place, _ATTEMPTS, f"{name}-{number:05d}-{uuid4().hex}.parquet")
        self._schema = schema_of_folded(ALL[name])
        self._writer: pq.ParquetWriter | None = None
        self.rows = 0

    def add(self, rows: pa.Table) -> None:
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._temporary, self._schema)
        self._writer.write_table(rows.cast(self._schema))
        self.rows += rows.num_rows

    def finish(self) -> None:
        if self._writer is not None:
            self._writer.close()
            if not self._path.exists():
                os.replace(self._temporary, self._path)

    def drop(self) -> None:
        """Leave nothing behind of a fold that was not finished."""
        if self._writer is not None:
            self._writer.close()
        self._temporary.unlink(missing_ok=True)


def _files(folder: str, number: int) -> dict[str, Path]:
    return {name: Path(folder, name, f"part-{number:05d}.parquet") for name in NAMES}


def _read(place: Path, name: str) -> pa.Table:
    """All rows of a fold, of which there are few."""
    empty = schema_of_folded(ALL[name]).empty_table()
    return pa.concat_tables([empty, *(pq.read_table(path) for path in sorted(Path(place, name).glob("*.parquet")))])


def _fold(spark: SparkSession, place: Path, name: str, rows: int) -> tuple[DataFrame, int]:
    """A fold as a table of Spark, and its rows: where there are few of them, those of all parts folded once more."""
    if rows <= (_SETTLED if name in SETTLED else MOST):
        whole = SETTLED.get(name, merged)(ALL[name], _read(place, name))
        if whole.num_rows <= MOST:
            return frame_of(spark, whole), whole.num_rows
    return spark.read.schema(struct_of_arrow(schema_of_folded(ALL[name]))).parquet(Path(place, name).as_uri()), rows
