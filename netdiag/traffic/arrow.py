"""Rows of a table as columns of Arrow: the types, and a record batch made column by column.

A TIME is nanoseconds in a row of ours; Arrow keeps them, Spark has microseconds only: say which with `unit`.
"""

from collections.abc import Sequence
from typing import Any, Literal

import pyarrow as pa

from netdiag.traffic.tables import Column, Kind, Table

Unit = Literal["ns", "us"]
# Rows of one record batch: what Spark takes at once.
BATCH = 65_536

_TYPES = {
    Kind.BOOL: pa.bool_(),
    Kind.INT16: pa.int16(),
    Kind.INT32: pa.int32(),
    Kind.INT64: pa.int64(),
    Kind.FLOAT64: pa.float64(),
    Kind.STRING: pa.string(),
    Kind.STRINGS: pa.list_(pa.field("element", pa.string())),
}
_PER_MICROSECOND = 1000


def schema_of(table: Table, names: Sequence[str] | None = None, *, unit: Unit = "ns") -> pa.Schema:
    """The Arrow schema of a table, or of some of its columns in the order asked for; KeyError for a strange name."""
    return pa.schema([_field(column, unit) for column in _chosen(table, names)])


def record_batch(
    table: Table, rows: Sequence[Sequence[Any]], names: Sequence[str] | None = None, *, unit: Unit = "ns"
) -> pa.RecordBatch:
    """Rows (tuples in the order of the table) as a record batch of the columns asked for."""
    columns = _chosen(table, names)
    places = {name: place for place, name in enumerate(table.names)}
    arrays = [_array(column, [row[places[column.name]] for row in rows], unit) for column in columns]
    if not columns:
        return pa.RecordBatch.from_struct_array(pa.array([{}] * len(rows), pa.struct([])))
    return pa.RecordBatch.from_arrays(arrays, schema=schema_of(table, names, unit=unit))


def _chosen(table: Table, names: Sequence[str] | None) -> tuple[Column, ...]:
    if names is None:
        return table.columns
    known = {column.name: column for column in table.columns}
    return tuple(known[name] for name in names)


def _field(column: Column, unit: Unit) -> pa.Field:
    kind = pa.timestamp(unit, tz="UTC") if column.kind is Kind.TIME else _TYPES[column.kind]
    return pa.field(column.name, kind, nullable=not column.required)


def _array(column: Column, values: list[Any], unit: Unit) -> pa.Array:
    if column.kind is not Kind.TIME:
        return pa.array(values, type=_TYPES[column.kind])
    whole = pa.array(values, type=pa.int64())
    if unit == "us":
        from pyarrow import compute  # slow to import

        whole = compute.divide(whole, _PER_MICROSECOND)
    return whole.cast(pa.timestamp(unit, tz="UTC"))
