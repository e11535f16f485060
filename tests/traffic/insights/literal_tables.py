"""Tables of Spark from literal rows: what a row does not say has a value that means nothing."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from netdiag.traffic.arrow import record_batch
from netdiag.traffic.facts import SECOND
from netdiag.traffic.tables import NAMES, Column, Kind, table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Row = Mapping[str, Any]
_NOTHING = {Kind.BOOL: False, Kind.STRING: "", Kind.FLOAT64: 0.0, Kind.STRINGS: ()}
_USUAL: Mapping[str, Row] = {
    "connections": {
        "opening": "complete",
        "ending": "open",
        "protocol": "kafka",
        "client_bytes": 100,
        "broker_bytes": 100,
        "file": "a.pcap",
    },
    "exchanges": {"outcome": "answered", "decoded": "full", "error_code": 0, "file": "a.pcap"},
    "batches": {"complete": True, "codec": "none", "magic": 2, "producer_id": -1, "base_sequence": -1},
}


def tables(spark: "SparkSession", **rows: Sequence[Row]) -> "dict[str, DataFrame]":
    """Every table the engine fills; times are in seconds."""
    return {name: _frame(spark, name, rows.get(name, ())) for name in NAMES}


def _frame(spark: "SparkSession", name: str, rows: Sequence[Row]) -> "DataFrame":
    columns = table(name).columns
    strange = {key for row in rows for key in row} - {column.name for column in columns}
    assert not strange, f"{name} has no {strange}"
    full = [tuple(_value(column, {**_USUAL.get(name, {}), **row}) for column in columns) for row in rows]
    return spark.createDataFrame(pa.Table.from_batches([record_batch(table(name), full, unit="us")]))


def _value(column: Column, row: Row) -> Any:
    value = row.get(column.name)
    if value is None:
        return _NOTHING.get(column.kind, 0) if column.required else None
    return int(value * SECOND) if column.kind is Kind.TIME else value


def answers(frame: "DataFrame") -> list[dict[str, Any]]:
    """The rows of an answer."""
    return [row.asDict() for row in frame.collect()]


def seconds(time: int) -> float:
    """A time of a fact in seconds."""
    return time / SECOND
