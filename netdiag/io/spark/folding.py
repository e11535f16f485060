"""Folded tables for an analysis, out of the pieces that tasks have written."""

import shutil
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from netdiag.io.spark.extraction import FOLDS
from netdiag.io.spark.small_tables import frame_of, is_small, made_at_once
from netdiag.traffic.aggregates.expressions import struct_of_arrow
from netdiag.traffic.arrow import schema_of
from netdiag.traffic.folds import ALL, ENDS, Selection, told_names, whole, without_beside
from netdiag.traffic.tables import table

# So many rows are merged here, in about 2 s and 400 MB; more of them are as good for Spark as they are.
_MERGED = 2_000_000
_NAMES = ("topic_id", "topic")
_TOGETHER = ("stamps", "produced")


@contextmanager
def folded_tables(
    spark: SparkSession, folder: str, selection: Selection, names: Iterable[str] = ALL
) -> Iterator[tuple[dict[str, DataFrame], dict[str, int]]]:
    """These folds in a folder, by their names, with how many rows each has; files that go at the end."""
    pieces = _Pieces(folder, selection)
    wanted = list(names)
    # What is few in all is merged by twos, in the memory that one merge may take.
    at_once = 2 if sum(map(pieces.rows, wanted)) <= _MERGED else 1
    try:
        with ThreadPoolExecutor(at_once) as pool:
            folds = dict(zip(wanted, pool.map(partial(_fold, spark, pieces), wanted), strict=True))
        frames = made_at_once(spark, {name: make for name, (make, _) in folds.items()})
        yield frames, {name: count for name, (_, count) in folds.items()}
    finally:
        shutil.rmtree(Path(folder, FOLDS), ignore_errors=True)


def names_told(folder: str) -> dict[str, str]:
    """The topics by their ids, as far as the parts in a folder tell."""
    files = [*_parts(Path(folder, "leaders")), *_parts(Path(folder, FOLDS, "places"))]
    return told_names(rows for file in files for rows in _groups(file, _NAMES))


class _Pieces:
    """The pieces of folds as they were written, with their topics named."""

    def __init__(self, folder: str, selection: Selection) -> None:
        self._folder = folder
        self._selection = selection

    def files(self, name: str) -> list[Path]:
        """Where they lie."""
        return _parts(Path(self._folder, FOLDS, name))

    def rows(self, name: str) -> int:
        """How many rows there are."""
        return sum(pq.read_metadata(file).num_rows for file in self.files(name))

    def all(self, name: str) -> pa.Table:
        """All at once."""
        return pa.concat_tables(self.each(name)).combine_chunks()

    def each(self, name: str) -> Iterator[pa.Table]:
        """So many at a time that it does not matter."""
        for file in self.files(name):
            yield pq.ParquetFile(file).schema_arrow.empty_table()
            for rows in _groups(file):
                yield self._selection.of(rows)

    def connections(self) -> pa.Table:
        """The ends of all connections."""
        shape = schema_of(table("connections"), ("connection", *ENDS), unit="us")
        parts = (
            pq.read_table(file, columns=shape.names).cast(shape) for file in _parts(Path(self._folder, "connections"))
        )
        return pa.concat_tables([shape.empty_table(), *parts]).combine_chunks()


def _parts(place: Path) -> list[Path]:
    return sorted(place.glob("part-*.parquet"))


def _groups(file: Path, columns: tuple[str, ...] | None = None) -> Iterator[pa.Table]:
    with pq.ParquetFile(file) as opened:
        for number in range(opened.num_row_groups):
            yield opened.read_row_group(number, columns)


def _fold(spark: SparkSession, pieces: _Pieces, name: str) -> tuple[Callable[[], DataFrame], int]:
    """What makes a fold a table of Spark, and how many rows it has: merged where that can be done here."""
    if name in _TOGETHER or pieces.rows(name) <= _MERGED:
        rows = whole(name, pieces.all, pieces.connections)
        if is_small(rows):
            return partial(frame_of, spark, rows), rows.num_rows
        parts: Iterator[pa.Table] = iter([rows])
    else:
        parts = (without_beside(rows) for rows in pieces.each(name))
    return _in_files(spark, pieces.files(name)[0].parent / "merged", parts)


def _in_files(spark: SparkSession, place: Path, parts: Iterator[pa.Table]) -> tuple[Callable[[], DataFrame], int]:
    place.mkdir()
    first = next(parts)
    count = first.num_rows
    with pq.ParquetWriter(place / "part-00000.parquet", first.schema) as writer:
        writer.write_table(first)
        for rows in parts:
            writer.write_table(rows)
            count += rows.num_rows
    return lambda: spark.read.schema(struct_of_arrow(first.schema)).parquet(place.as_uri()), count
