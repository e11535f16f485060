"""What is said without Spark is what Spark would say."""

from typing import TYPE_CHECKING, Any

import pytest

from netdiag.io.spark.analysis import once, resolved
from netdiag.io.spark.few import may_name, may_relay
from netdiag.traffic.tables import NAMES
from tests.traffic.aggregates.frames import frame

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

ID, OTHER = "AAAAAAAAAAAAAAAAAAAAAA", "BBBBBBBBBBBBBBBBBBBBBB"
ENDS = {"client": "10.0.0.9:40000", "broker": "10.0.0.2:9092", "first_time": 0}
SAID = {"digest": 5, "client_bytes": 10, "broker_bytes": 20}
TOLD = {"topic": "orders", "topic_id": ID}
Rows = dict[str, list[dict[str, Any]]]


def tables_of(spark: "SparkSession", rows: Rows) -> tuple[dict[str, "DataFrame"], dict[str, "pa.Table"]]:
    """The tables with these rows, for Spark and in memory."""
    tables = {name: frame(spark, name, *rows.get(name, [])) for name in NAMES}
    return tables, {name: each.toArrow() for name, each in tables.items()}


@pytest.mark.parametrize(
    ("second", "may"),
    [
        ({}, False),
        ({"digest": None}, False),
        ({**SAID, "client_bytes": 11}, False),
        (SAID, True),
    ],
)
def test_a_relay_says_the_same_again(spark: "SparkSession", second: dict[str, int], may: bool) -> None:
    inner = {**ENDS, "client": "172.18.0.1:50000", "broker": "172.18.0.2:9092", "connection": 2, "first_time": 10}
    tables, parts = tables_of(spark, {"connections": [{**ENDS, **SAID, "connection": 1}, {**inner, **second}]})
    assert may_relay(parts["connections"]) is may
    assert (once(tables)["connections"] is not tables["connections"]) is may


@pytest.mark.parametrize(
    ("rows", "may"),
    [
        ({}, False),
        ({"leaders": [TOLD]}, False),
        ({"leaders": [TOLD], "partitions": [{"topic_id": OTHER}]}, False),
        ({"leaders": [TOLD], "partitions": [{"topic_id": ID}]}, True),
        ({"partitions": [TOLD], "batches": [{"topic_id": ID}]}, True),
        ({"leaders": [TOLD], "exchanges": [{"topics": [ID]}]}, True),
        ({"leaders": [TOLD], "exchanges": [{"topics": ["orders"]}, {"topics": None}]}, False),
        ({"exchanges": [{"topics": [ID]}]}, False),
    ],
)
def test_a_topic_has_a_name_elsewhere(spark: "SparkSession", rows: Rows, may: bool) -> None:
    tables, parts = tables_of(spark, rows)
    assert may_name(parts) is may
    named = resolved(tables)
    changed = {
        name
        for name in ("exchanges", "partitions", "batches", "leaders")
        if named[name].select(_topics(name)).collect() != tables[name].select(_topics(name)).collect()
    }
    assert bool(changed) is may


def _topics(name: str) -> str:
    return "topics" if name == "exchanges" else "topic"
