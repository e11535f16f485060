"""Tables that are small are given to Spark as they are."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from netdiag.io.spark.analysis import names_of, once, relays_of, resolved
from netdiag.io.spark.small_tables import (
    MOST,
    frame_of,
    is_small,
    may_name,
    one_task_each,
    plain_rows,
    rows_at,
    small_table,
    small_tables,
)
from netdiag.traffic.arrow import schema_of
from netdiag.traffic.folds import Selection
from netdiag.traffic.tables import NAMES, TOGETHER, table
from tests.traffic.aggregates.frames import frame
from tests.traffic.folds.random_rows import anything

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession


PARTITIONS, LEAVES = "spark.sql.shuffle.partitions", "spark.sql.leafNodeDefaultParallelism"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("tables")
    for part in range(2):
        for name, rows in anything(7, part).items():
            (place / name).mkdir(exist_ok=True)
            pq.write_table(rows, place / name / f"part-{part:05}.parquet")
    return place


def test_they_are_what_spark_makes_of_the_files(spark: SparkSession, folder: Path) -> None:
    tables = {name: spark.read.parquet((folder / name).as_uri()) for name in NAMES}
    rows = {name: frame.count() for name, frame in tables.items()}
    relays = {2: 1, 4: 1}
    names = names_of(tables)
    kept = {
        name: frame.where("connection not in (2, 4)") if "connection" in frame.columns else frame
        for name, frame in resolved(tables).items()
    }
    found = small_tables(spark, str(folder), rows, Selection(relays=frozenset(relays), names=names), relays)
    assert set(found) == set(NAMES) - set(TOGETHER)
    for name in ("group_events", "endpoints", "leaders"):
        assert rows[name]
        assert said(found[name].toArrow()) == said(kept[name].toArrow()), name
        assert found[name].columns == tables[name].columns
    told = {row["connection"]: row["relay_of"] for row in found["connections"].collect()}
    assert {key: relay for key, relay in told.items() if relay is not None} == {
        key: relay for key, relay in relays.items() if key in told
    }
    assert len(told) == rows["connections"]


def said(rows: pa.Table) -> list[str]:
    return sorted(map(repr, rows.to_pylist()))


def test_a_large_table_stays_where_it_is(folder: Path) -> None:
    assert small_table(str(folder), "connections", MOST + 1) is None
    whole = small_table(str(folder), "connections", MOST)
    assert whole is not None
    assert whole.num_rows == pq.read_table(folder / "connections").num_rows


def test_a_table_of_long_texts_is_not_small(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = rows_at(str(folder), "connections")
    assert is_small(whole)
    monkeypatch.setattr("netdiag.io.spark.small_tables._MOST_BYTES", whole.nbytes // 2)
    assert not is_small(whole)
    assert small_table(str(folder), "connections", whole.num_rows) is None


def test_a_table_without_rows(spark: SparkSession) -> None:
    shape = schema_of(table("connections"), unit="us")
    frame = frame_of(spark, shape.empty_table())
    assert frame.columns == shape.names
    assert relays_of({"connections": frame}) == {}
    assert once({"connections": frame}) == {"connections": frame}


def test_rows_behind_a_part_without_any(spark: SparkSession, tmp_path: Path) -> None:
    whole = anything(7)["endpoints"]
    (tmp_path / "endpoints").mkdir()
    for part, rows in enumerate((whole.slice(0, 0), whole, whole.slice(0, 0), whole)):
        pq.write_table(rows, tmp_path / "endpoints" / f"part-{part:05}.parquet")
    found = small_table(str(tmp_path), "endpoints", MOST)
    assert found is not None
    assert frame_of(spark, found).count() == 2 * whole.num_rows > 0


@pytest.mark.parametrize(("rows", "partitions"), [(2_000_000, "1"), (2_000_001, None)])
def test_few_rows_are_one_task(spark: SparkSession, rows: int, partitions: str | None) -> None:
    def told() -> list[str | None]:
        return [spark.conf.get(name, "99") for name in (PARTITIONS, LEAVES)]

    before = told()
    with one_task_each(spark, rows):
        assert told() == ([partitions] * 2 if partitions else before)
    assert told() == before


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


def test_times_are_nanoseconds_and_lists_are_tuples() -> None:
    table = pa.table(
        {
            "time": pa.array([1_700_000_000_123_456], pa.timestamp("us", tz="UTC")),
            "names": [["a", "b"]],
            "count": [None],
        }
    )
    assert plain_rows(table) == ({"time": 1_700_000_000_123_456_000, "names": ("a", "b"), "count": None},)
