"""What a userland proxy passes on is found, what only looks alike is not."""

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from netdiag.traffic.aggregates.relays import with_relays, without_relays
from tests.traffic.aggregates.frames import MS, T0, S, frame

OUTER: dict[str, Any] = {
    "connection": 1,
    "client": "127.0.0.1:49264",
    "broker": "127.0.0.1:9092",
    "digest": 77,
    "first_time": T0,
    "client_bytes": 70,
    "broker_bytes": 500,
}
INNER = {**OUTER, "connection": 2, "client": "172.18.0.1:35140", "broker": "172.18.0.5:9092", "first_time": T0 + MS}
OTHERS = [
    {"digest": 78},
    {"digest": None},
    {"client": "127.0.0.1:50000"},
    {"broker": "127.0.0.1:9092"},
    {"client_bytes": 71},
    {"broker_bytes": 501},
    {"first_time": T0 + 60 * MS},
    {"first_time": T0 - MS},
]


def relays(spark: SparkSession, *rows: dict[str, Any]) -> dict[int, int | None]:
    found = with_relays(frame(spark, "connections", *rows)).collect()
    assert len(found) == len(rows)
    return {row["connection"]: row["relay_of"] for row in found}


def plan(found: DataFrame) -> str:
    """How Spark would join them: the keys of a join come before its kind."""
    java: Any = found._jdf
    return str(java.queryExecution().sparkPlan().toString())


def test_the_inner_connection_is_a_relay_of_the_outer(spark: SparkSession) -> None:
    assert relays(spark, OUTER, INNER) == {1: None, 2: 1}


@pytest.mark.parametrize("change", OTHERS, ids=str)
def test_what_differs_is_no_relay(spark: SparkSession, change: dict[str, Any]) -> None:
    assert relays(spark, OUTER, {**INNER, **change}) in ({1: None, 2: None}, {1: 2, 2: None})
    assert relays(spark, OUTER, {**INNER, **change})[2] is None


@pytest.mark.parametrize("after", [0, 1, 30, 49, 50])
def test_a_relay_is_found_wherever_its_time_lies(spark: SparkSession, after: int) -> None:
    rows = []
    for number in range(0, 200, 2):
        begin = {"digest": 1000 + number, "first_time": T0 + number * 7 * MS}
        rows += [
            {**OUTER, **begin, "connection": number},
            {**INNER, **begin, "connection": number + 1, "first_time": begin["first_time"] + after * MS},
        ]
    assert relays(spark, *rows) == {number: number - 1 if number % 2 else None for number in range(200)}


def test_connections_that_all_say_the_same_are_not_held_against_each_other(spark: SparkSession) -> None:
    checks = [
        {**OUTER, "connection": number, "client": f"10.0.0.{number % 250}:1", "first_time": T0 + number * S}
        for number in range(500)
    ]
    found = with_relays(frame(spark, "connections", *checks))
    joins = [line for line in plan(found).splitlines() if "Inner" in line]
    assert joins
    assert all("slot" in line.partition("Inner")[0] for line in joins), joins
    assert {row["relay_of"] for row in found.collect()} == {None}


def test_the_nearest_of_several_is_meant(spark: SparkSession) -> None:
    earlier = {**OUTER, "connection": 3, "client": "127.0.0.2:1", "first_time": T0 - 10 * MS}
    assert relays(spark, OUTER, earlier, INNER)[2] == 1


def test_rows_of_relays_are_left_out(spark: SparkSession) -> None:
    connections = with_relays(frame(spark, "connections", OUTER, INNER))
    exchanges = frame(spark, "exchanges", {"connection": 1}, {"connection": 2}, {"connection": 9})
    kept = without_relays(exchanges, connections)
    assert kept.columns == exchanges.columns
    assert sorted(row["connection"] for row in kept.collect()) == [1, 9]
