"""DataFrames of literal rows: what a test does not name is null, or the emptiest value that is allowed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from netdiag.traffic.arrow import record_batch, schema_of
from netdiag.traffic.tables import Kind, aggregate, table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    Frame = DataFrame

# A second in nanoseconds, and the moment at which the literal captures begin.
S = 1_000_000_000
MS = 1_000_000
T0 = 1_700_000_000 * S

_EMPTY: dict[Kind, Any] = {
    Kind.BOOL: False,
    Kind.INT16: 0,
    Kind.INT32: 0,
    Kind.INT64: 0,
    Kind.FLOAT64: 0.0,
    Kind.STRING: "",
    Kind.STRINGS: (),
    Kind.TIME: T0,
}
_USUAL: dict[str, dict[str, Any]] = {
    "exchanges": {"client": "10.0.0.2:40000", "broker": "10.0.0.9:9092", "decoded": "full", "outcome": "answered"},
    "group_events": {"client": "10.0.0.2:40000", "broker": "10.0.0.9:9092", "group": "g", "error_code": 0},
    "connections": {
        "client": "10.0.0.2:40000",
        "broker": "10.0.0.9:9092",
        "opening": "complete",
        "ending": "fin",
        "protocol": "kafka",
    },
}


def frame(spark: "SparkSession", name: str, *rows: dict[str, Any]) -> "DataFrame":
    """The DataFrame of a table of the engine."""
    columns = table(name).columns
    tuples = []
    for given in rows:
        strange = set(given) - set(table(name).names)
        assert not strange, strange
        values = {column.name: _EMPTY[column.kind] if column.required else None for column in columns}
        tuples.append(tuple((values | _USUAL.get(name, {}) | given)[column.name] for column in columns))
    if not tuples:
        return spark.createDataFrame(schema_of(table(name), unit="us").empty_table())
    return spark.createDataFrame(pa.Table.from_batches([record_batch(table(name), tuples, unit="us")]))


def rows_of(found: "DataFrame", name: str, *order: str) -> list[dict[str, Any]]:
    """The rows as dictionaries, with times as nanoseconds, once the schema is what was declared."""
    declared = schema_of(aggregate(name), unit="us")
    arrow = found.toArrow()
    assert arrow.schema.names == declared.names
    assert [field.type for field in arrow.schema] == [field.type for field in declared], name
    for field in declared:
        assert field.nullable or arrow.column(field.name).null_count == 0, f"{name}.{field.name} is null"
    rows: list[dict[str, Any]] = [_plain(row) for row in arrow.to_pylist()]
    return sorted(rows, key=lambda row: tuple(str(row[column]) for column in order))


def picked(rows: Sequence[dict[str, Any]], *names: str) -> list[tuple[Any, ...]]:
    """Some columns of every row."""
    return [tuple(row[name] for name in names) for row in rows]


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: int(value.timestamp()) * S + value.microsecond * 1000 if hasattr(value, "timestamp") else value
        for name, value in row.items()
    }
