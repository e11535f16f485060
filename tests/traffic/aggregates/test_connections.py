"""Who connects how, from tables with known rows."""

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from netdiag.traffic.aggregates.connections import (
    api_versions,
    churn,
    software,
    tcp_health,
    told,
    with_relays,
    without_relays,
)
from netdiag.traffic.aggregates.questions import drawn
from netdiag.traffic.analysis import Buckets
from tests.traffic.aggregates.frames import MS, T0, S, frame, picked, rows_of


def test_openings_and_endings_are_counted(spark: SparkSession) -> None:
    connections = frame(
        spark,
        "connections",
        {"connection": 1, "client_id": "app", "first_time": T0, "last_time": T0 + 30 * S},
        {"connection": 2, "client_id": "app", "client": "10.0.0.2:2", "last_time": T0 + 60 * S, "ending": "open"},
        {"connection": 3, "client_id": "app", "last_time": T0, "opening": "refused", "ending": "reset-by-broker"},
    )
    (row,) = rows_of(churn(connections), "churn")
    assert {name: value for name, value in row.items() if value} == {
        "client": "10.0.0.2",
        "client_id": "app",
        "broker": "10.0.0.9:9092",
        "protocol": "kafka",
        "connections": 3,
        "complete": 2,
        "refused": 1,
        "fin": 1,
        "open": 1,
        "reset_by_broker": 1,
        "per_minute": 3.0,
        "seconds_p50": 30.0,
        "seconds_max": 60.0,
    }


def test_software_of_kafka_connections_only(spark: SparkSession) -> None:
    java = {"client_software": "apache-kafka-java 4.1.0", "client_id": "app"}
    connections = frame(
        spark, "connections", java, {**java, "client": "10.0.0.3:1"}, {}, {"protocol": "tls", "client_id": "app"}
    )
    rows = rows_of(software(connections), "software", "client_software")
    assert picked(rows, "client_software", "client_id", "connections", "clients") == [
        (None, None, 1, 1),
        ("apache-kafka-java 4.1.0", "app", 2, 2),
    ]


def test_versions_in_use(spark: SparkSession) -> None:
    fetch = {"api_key": 1, "api_name": "Fetch", "api_version": 17, "client_id": "app"}
    exchanges = frame(spark, "exchanges", fetch, {**fetch, "client_id": "b"}, {**fetch, "api_version": 4}, {})
    rows = rows_of(api_versions(exchanges), "api_versions", "api_version")
    assert picked(rows, "api_version", "requests", "clients", "client_ids") == [
        (17, 2, 1, ["app", "b"]),
        (4, 1, 1, ["app"]),
    ]


def test_health_is_per_path(spark: SparkSession) -> None:
    good = {"client_packets": 60, "broker_packets": 40, "client_bytes": 7, "broker_bytes": 3, "handshake_ms": 1.0}
    connections = frame(
        spark,
        "connections",
        good,
        {**good, "client": "10.0.0.2:9", "retransmissions": 5, "handshake_ms": 3.0, "ending": "reset-by-client"},
        {"client": "10.0.0.7:1", "opening": "unanswered"},
    )
    rows = rows_of(tcp_health(connections), "tcp_health", "client")
    names = ("client", "connections", "packets", "bytes", "retransmitted_share", "resets", "handshake_max_ms")
    assert picked(rows, *names) == [
        ("10.0.0.2", 2, 200, 20, 0.025, 1, 3.0),
        ("10.0.0.7", 1, 0, 0, None, 0, None),
    ]


def test_addresses_told(spark: SparkSession) -> None:
    one = {"node_id": 1, "host": "broker-1", "port": 29092, "broker": "10.0.0.9:9092", "cluster_id": "c"}
    endpoints = frame(
        spark,
        "endpoints",
        {**one, "client": "10.0.0.2:1"},
        {**one, "client": "10.0.0.2:2", "time": T0 + S},
        # FindCoordinator without a coordinator.
        {"node_id": -1, "host": "", "port": -1},
    )
    rows = rows_of(told(endpoints), "told")
    assert picked(rows, "node_id", "host", "port", "brokers", "clients", "times", "last_time") == [
        (1, "broker-1", 29092, ["10.0.0.9:9092"], 1, 2, T0 + S)
    ]


SPAN = Buckets(first=0, length=1, count=1)


def test_every_kind_of_trouble_counts_once_and_the_worst_come_first(spark: SparkSession) -> None:
    connections = frame(
        spark,
        "connections",
        {"connection": 1, "client_bytes": 5, "first_time": T0, "last_time": T0 + 3 * S},
        {"connection": 2, "client_bytes": 9},
        {"connection": 3, "opening": "refused", "ending": "reset-by-broker"},
        {"connection": 4, "retransmissions": 7, "zero_windows": 1, "lost_bytes": 3},
        {"connection": 5},
        {"connection": 6, "opening": "unseen"},
    )
    exchanges = frame(
        spark,
        "exchanges",
        {"connection": 5, "error_code": 6},
        {"connection": 5, "error_code": 6},
        {"connection": 5, "outcome": "unanswered"},
        {"connection": 2, "api_key": 18, "error_code": 35},
    )
    found = drawn("worst_connections", {"connections": connections, "exchanges": exchanges}, SPAN)
    order = [row["connection"] for row in found.collect()]
    rows = {row["connection"]: row for row in rows_of(found, "worst_connections")}
    assert order == [4, 3, 5, 2, 1, 6]
    assert [rows[number]["trouble"] for number in order] == [3, 2, 2, 0, 0, 0]
    assert picked([rows[5]], "errors", "unanswered") == [(2, 1)]
    assert rows[1]["seconds"] == 3.0


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
