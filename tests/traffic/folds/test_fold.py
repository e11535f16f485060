"""Folding: rows that are alike become one, and nothing that is asked for is lost."""

import random
from collections import Counter
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from netdiag.traffic.aggregates.expressions import host, three_digits
from netdiag.traffic.arrow import schema_of
from netdiag.traffic.folds.fold import (
    TIMES,
    Fold,
    Folding,
    Quantiles,
    column,
    digits,
    folded,
    hosts,
    mapped,
    schema_of_fold,
    seconds,
    settled,
)
from netdiag.traffic.tables import table
from tests.traffic.folds.anything import anything

ROWS = anything(3)["exchanges"]
FOLD = Fold(
    of="exchanges",
    keys=("client_id", "topics"),
    sums=("request_bytes", "records"),
    greatest=("latency_ms",),
    first=("time", "request_packet"),
)


def plain(rows: pa.Table) -> list[dict[str, Any]]:
    return sorted(rows.to_pylist(), key=repr)


def by_hand(rows: pa.Table) -> list[dict[str, Any]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows.to_pylist():
        key = repr((row["client_id"], row["topics"], row["request_bytes"] is None, row["records"] is None))
        groups.setdefault(key, []).append(row)
    made = []
    for group in groups.values():
        first = min(group, key=lambda row: (row["time"], row["request_packet"]))
        took = [row["latency_ms"] for row in group if row["latency_ms"] is not None]
        made.append(
            {
                **{name: group[0][name] for name in ("client_id", "topics")},
                **{name: first[name] for name in ("time", "request_packet")},
                **{
                    name: None if first[name] is None else sum(row[name] for row in group)
                    for name in ("request_bytes", "records")
                },
                "times": len(group),
                "latency_ms": max(took, default=None),
                "until": max(row["time"] for row in group),
            }
        )
    return sorted(made, key=repr)


def test_what_is_alike_is_one() -> None:
    assert plain(folded(FOLD, ROWS)) == by_hand(ROWS)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_pieces_are_what_the_whole_is(size: int) -> None:
    folding = Folding(FOLD)
    for begin in range(0, ROWS.num_rows, size):
        assert folding.add(ROWS.slice(begin, size)) is None
    rest = folding.rest()
    assert rest is not None
    assert plain(rest) == by_hand(ROWS)


def test_too_many_rows_are_given_away() -> None:
    folding, given = Folding(FOLD, most=20), []
    for begin in range(0, ROWS.num_rows, 10):
        full = folding.add(ROWS.slice(begin, 10))
        if full is not None:
            given.append(full)
        assert folding.held <= 20
    assert len(given) > 3
    rest = folding.rest()
    times: Counter[str] = Counter()
    for part in [*given, *([rest] if rest is not None else [])]:
        for row in part.to_pylist():
            times[repr((row["client_id"], row["topics"]))] += row["times"]
    wanted: Counter[str] = Counter()
    for row in by_hand(ROWS):
        wanted[repr((row["client_id"], row["topics"]))] += row["times"]
    assert times == wanted


def test_only_rows_that_meet_the_condition() -> None:
    fold = Fold(of="exchanges", keys=("outcome",), where=lambda rows: pc.equal(rows["outcome"], "unanswered"))
    (row,) = folded(fold, ROWS).to_pylist()
    assert row == {"outcome": "unanswered", "times": ROWS["outcome"].to_pylist().count("unanswered")}
    assert Folding(fold).rest() is None


def test_lists_are_told_apart() -> None:
    lists = [["a", "b"], ["a,1:b"], ["ab"], [""], [], None, ["a"], ["a", ""], ["a", "b"]]
    rows = pa.table({"topics": pa.array(lists, pa.list_(pa.string()))})
    found = folded(Fold(of="exchanges", keys=("topics",)), rows)
    assert found["topics"].to_pylist() == lists[:-1]
    assert found["times"].to_pylist() == [2, *[1] * 7]


def test_the_schema_is_that_of_the_rows() -> None:
    assert schema_of_fold(FOLD, schema_of(table("exchanges"), unit="us")).types == folded(FOLD, ROWS).schema.types


S = 1_000_000


def test_the_port_of_a_host_is_0(spark: SparkSession) -> None:
    given = ["10.0.0.1:4000", "[fd00::1]:77", "fd00::1", "", None, "10.0.0.1:4000"]
    rows = pa.table({"client": pa.array(given, pa.string())})
    made = hosts("client")(rows)
    assert made.to_pylist()[:3] == ["10.0.0.1:0", "[fd00::1]:0", "fd00::0"]
    before, after = (
        [row[0] for row in spark.createDataFrame(each).select(host("client")).collect()]
        for each in (rows.slice(0, 2), pa.table({"client": made}).slice(0, 2))
    )
    assert before == after == ["10.0.0.1", "fd00::1"]


def test_seconds_begin_where_they_begin() -> None:
    times = pa.array([0, S - 1, S, 25 * S + 1], pa.timestamp("us", tz="UTC"))
    rows = pa.table({"time": times})
    assert seconds("time")(rows).cast(pa.int64()).to_pylist() == [0, 0, S, 25 * S]
    assert seconds("time", 10)(rows).cast(pa.int64()).to_pylist() == [0, 0, 0, 20 * S]


def test_what_has_one_key_is_one_number_at_three_digits(spark: SparkSession) -> None:
    chance = np.random.default_rng(7)
    microseconds = chance.integers(0, 10**8, 20_000) / 1000
    halves = np.concatenate([(np.arange(100, 1000) + 0.5) * 10.0**power for power in range(-5, 4)])
    edges = np.array([0.0, 0.001, 1.0, 9.995, 9.994999999999999, 99.95, 100.0, 1e-6, 1e9])
    values = np.concatenate([microseconds, halves, np.nextafter(halves, 0), np.nextafter(halves, 1e9), edges])
    rows = pa.table({"latency": pa.array([*values.tolist(), None])})
    key = digits(lambda rows: rows["latency"])(rows)
    assert len(key[: len(microseconds)].unique()) < 0.3 * len(microseconds)
    frame = spark.createDataFrame(rows.append_column("key", key)).withColumn("three", three_digits(F.col("latency")))
    several = frame.groupBy("key").agg(F.count_distinct("three").alias("count")).where(F.col("count") > 1)
    assert several.collect() == []
    assert key[len(rows) - 1].as_py() is None


def test_texts_are_mapped_once() -> None:
    asked = []

    def shout(text: str) -> str | None:
        asked.append(text)
        return text.upper() if text else None

    column = pa.chunked_array([pa.array(["a", None, "a", ""])])
    assert mapped(column, shout).to_pylist() == ["A", None, "A", None]
    assert asked == ["a", ""]


PERCENTS = (50, 95, 99)
TIMES_TAKEN = Fold(of="rows", keys=("group", "outcome"), sums=("bytes",), greatest=("value", "other"))


def asked(name: str) -> Quantiles:
    return Quantiles(value=column(name), percents=PERCENTS, groups=(column("group"),))


def by_chance(seed: int, rows: int = 3000) -> pa.Table:
    chance = random.Random(seed)
    values = [None, 0.0, 1.0, *(chance.random() * 10 ** chance.randrange(4) for _ in range(rows // seed))]
    return pa.table(
        {
            "group": pa.array([chance.choice(["one", "two", None]) for _ in range(rows)]),
            "outcome": pa.array([chance.choice(["answered", "unanswered"]) for _ in range(rows)]),
            "value": pa.array([chance.choice(values) for _ in range(rows)], pa.float64()),
            "other": pa.array([chance.choice([None, 1, 2, chance.randrange(500)]) for _ in range(rows)], pa.int32()),
            "bytes": pa.array([chance.choice([None, 7]) for _ in range(rows)], pa.int64()),
            TIMES: pa.array([chance.choice([1, 1, 1, 40]) for _ in range(rows)], pa.int64()),
        }
    )


def percentiles(rows: pa.Table, name: str) -> dict[object, list[float]]:
    """Those of every group, each row as many times as it is there."""
    found: dict[object, list[float]] = {}
    told = sorted(rows.to_pylist(), key=lambda row: str(row["group"]))
    for group, these in groupby(told, lambda row: row["group"]):
        values = [value for row in these if row[name] is not None for value in [row[name]] * row[TIMES]]
        found[group] = [float(np.percentile(values, percent)) for percent in (*PERCENTS, 100)]
    return found


def counts(rows: pa.Table) -> dict[tuple[object, ...], tuple[int, int]]:
    """How many rows and bytes there are of each outcome, of those with a value, with another and with bytes."""
    found: dict[tuple[object, ...], tuple[int, int]] = {}
    for row in rows.to_pylist():
        known = tuple(row[name] is not None for name in ("value", "other", "bytes"))
        key = (row["group"], row["outcome"], *known)
        times, whole = found.get(key, (0, 0))
        found[key] = (times + row[TIMES], whole + (row["bytes"] or 0))
    return found


@pytest.mark.parametrize("seed", [1, 2, 100])
def test_percentiles_and_counts_stay(seed: int) -> None:
    rows = by_chance(seed)
    found = settled([asked("value"), asked("other")])(TIMES_TAKEN, rows)
    assert found.num_rows < rows.num_rows / 3
    assert set(found.schema.names) == {*TIMES_TAKEN.columns, TIMES}
    for name in ("value", "other"):
        assert percentiles(found, name) == percentiles(rows, name), name
    assert counts(found) == counts(rows)


def test_few_rows_are_left_of_many_values() -> None:
    rows = by_chance(1)
    found = settled([asked("value")])(TIMES_TAKEN, rows)
    # Of each group at most seven rows at a place and the greatest, and those between: of two outcomes, with and
    # without bytes, one with a value and one without.
    assert found.num_rows <= 3 * (7 + 4 * 8 + 4)


def test_no_rows_and_no_values() -> None:
    rows = by_chance(1)
    whole = settled([asked("value")])
    assert whole(TIMES_TAKEN, rows.slice(0, 0)).num_rows == 0
    nulls = rows.set_column(rows.schema.get_field_index("value"), "value", pa.nulls(rows.num_rows, pa.float64()))
    assert whole(TIMES_TAKEN, nulls).to_pydict()["value"] == [None] * 12
