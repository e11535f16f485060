"""The rows of tables as Parquet, a file for every table that has some: whole under its name, or not there."""

import os
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from netdiag.errors import InputError
from netdiag.traffic.arrow import BATCH, schema_of
from netdiag.traffic.tables import NAMES, table


class Parts:
    """`path` tells where the rows of a table go; with `empty` there is a file also for a table without any."""

    def __init__(self, path: Callable[[str], Path], *, empty: bool = False) -> None:
        self._parts = {name: _Part(name, path(name), empty=empty) for name in NAMES}

    def __enter__(self) -> "Parts":
        return self

    def __exit__(self, *raised: object) -> None:
        for part in self._parts.values():
            part.drop()

    def add(self, batches: Mapping[str, Sequence[Any]]) -> None:
        """More rows: what Arrow's C data interface takes for record batches."""
        for name, some in batches.items():
            for batch in some:
                self._parts[name].add(pa.record_batch(batch))

    def finish(self) -> None:
        """That was all: give the files their names."""
        for part in self._parts.values():
            part.finish()


class _Part:
    def __init__(self, name: str, path: Path, *, empty: bool) -> None:
        self._schema = schema_of(table(name), unit="us")
        self._path = path
        self._empty = empty
        # Spark leaves files alone whose names begin with a dot.
        self._temporary = path.with_name(f".{path.name.lstrip('.')}.{uuid.uuid4().hex}")
        self._held: list[pa.RecordBatch] = []
        self._writer: pq.ParquetWriter | None = None

    def add(self, batch: pa.RecordBatch) -> None:
        self._held.append(batch)
        if sum(each.num_rows for each in self._held) >= BATCH:
            self._write()

    def finish(self) -> None:
        if self._held or (self._empty and self._writer is None):
            self._write()
        if self._writer is None:
            # Should an earlier try of this batch have seen more.
            self._path.unlink(missing_ok=True)
            return
        self._writer.close()
        self._writer = None
        os.replace(self._temporary, self._path)

    def drop(self) -> None:
        """Leave nothing behind of what was not finished."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        with suppress(FileNotFoundError):
            self._temporary.unlink()

    def _write(self) -> None:
        rows = pa.Table.from_batches(self._held, self._schema)
        try:
            if self._writer is None:
                self._writer = pq.ParquetWriter(self._temporary, self._schema, compression="zstd")
            self._writer.write_table(rows, row_group_size=max(1, rows.num_rows))
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror or error}", where=str(self._path)) from error
        self._held = []
