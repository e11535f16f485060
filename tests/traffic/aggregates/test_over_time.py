"""Charts over time: every row in its bucket, few series, and what is left out is counted as one."""

from typing import Any

from pyspark.sql import SparkSession

from netdiag.traffic.aggregates.over_time import (
    BROKERS,
    KINDS_OF_ERROR,
    PARTITIONS,
    brokers_over_time,
    connections_over_time,
    errors_over_time,
    moments,
    partitions_over_time,
    traffic_over_time,
)
from netdiag.traffic.analysis import Buckets
from tests.traffic.aggregates.frames import MS, T0, S, frame, picked, rows_of

SPAN = Buckets(first=T0 // 1000, length=1_000_000, count=10)
ASKED: dict[str, Any] = {
    "api_key": 0,
    "api_name": "Produce",
    "request_bytes": 100,
    "response_bytes": 10,
    "latency_ms": 4.0,
}
SILENT: dict[str, Any] = {**ASKED, "response_bytes": None, "latency_ms": None, "outcome": "unanswered"}


def test_traffic_is_counted_in_its_bucket(spark: SparkSession) -> None:
    exchanges = frame(
        spark,
        "exchanges",
        {**ASKED, "time": T0 + 999 * MS, "error_code": 6},
        {**ASKED, "time": T0 + 999 * MS, "throttle_ms": 30},
        {**SILENT, "time": T0 + 9 * S},
        {**ASKED, "time": T0 + 10 * S},
    )
    rows = rows_of(traffic_over_time(exchanges, SPAN), "traffic_over_time", "bucket")
    names = ("bucket", "requests", "responses", "request_bytes", "response_bytes", "errors", "unanswered", "throttled")
    assert picked(rows, *names) == [(0, 2, 2, 200, 20, 1, 0, 1), (9, 1, 0, 100, 0, 0, 1, 0)]
    assert picked(rows, "service_p50_ms", "service_p99_ms", "service_max_ms") == [(4.0, 4.0, 4.0), (None, None, None)]


def test_waiting_that_was_asked_for_is_no_latency(spark: SparkSession) -> None:
    fetch = {**ASKED, "api_key": 1, "api_name": "Fetch", "empty": True, "wait_ms": 500, "latency_ms": 502.0}
    join = {**ASKED, "api_key": 11, "api_name": "JoinGroup", "latency_ms": 3000.0, "time": T0 + 2 * S}
    rows = rows_of(traffic_over_time(frame(spark, "exchanges", fetch, join), SPAN), "traffic_over_time", "bucket")
    assert picked(rows, "bucket", "service_max_ms") == [(0, 2.0), (2, None)]


def test_steps_of_the_protocol_are_no_errors(spark: SparkSession) -> None:
    exchanges = frame(
        spark,
        "exchanges",
        {**ASKED, "api_key": 18, "api_name": "ApiVersions", "error_code": 35},
        {**ASKED, "api_key": 11, "api_name": "JoinGroup", "error_code": 79},
        {**ASKED, "error_code": 35},
    )
    (row,) = rows_of(traffic_over_time(exchanges, SPAN), "traffic_over_time")
    assert row["errors"] == 1
    rows = rows_of(errors_over_time(exchanges, SPAN), "errors_over_time")
    assert picked(rows, "api_name", "error", "times") == [("Produce", "UNSUPPORTED_VERSION", 1)]


def test_rare_errors_are_one_series(spark: SparkSession) -> None:
    many = [
        {**ASKED, "error_code": code, "time": T0 + second * S}
        for code in range(1, KINDS_OF_ERROR + 1)
        for second in (1, 2)
    ]
    rare = [{**ASKED, "error_code": 41}, {**ASKED, "error_code": 42}, {**SILENT, "api_name": None}]
    exchanges = frame(spark, "exchanges", *many, *many, *rare)
    rows = rows_of(errors_over_time(exchanges, SPAN), "errors_over_time", "error", "bucket")
    rest = [row for row in rows if row["error"] is None]
    assert picked(rest, "bucket", "api_name", "times") == [(0, None, 3)]
    assert len({row["error"] for row in rows}) == KINDS_OF_ERROR + 1
    assert sum(row["times"] for row in rows) == 4 * KINDS_OF_ERROR + 3


def test_connections_open_and_end(spark: SparkSession) -> None:
    connections = frame(
        spark,
        "connections",
        {"first_time": T0, "last_time": T0 + 3 * S, "ending": "reset-by-broker"},
        {"first_time": T0, "last_time": T0, "opening": "refused", "ending": "reset-by-broker"},
        {"first_time": T0 + 3 * S, "last_time": T0 + 4 * S, "opening": "half", "ending": "open"},
        {"first_time": T0 + 3 * S, "last_time": T0 + 4 * S, "opening": "unseen", "ending": "fin"},
    )
    rows = rows_of(connections_over_time(connections, SPAN), "connections_over_time", "bucket")
    assert picked(rows, "bucket", "opened", "refused", "unanswered", "resets") == [(0, 1, 1, 0, 0), (3, 0, 0, 1, 1)]


def test_of_many_partitions_the_greatest_are_told_apart(spark: SparkSession) -> None:
    rows: list[dict[str, Any]] = [
        {"time": T0 + S, "api_key": 0, "topic": "t", "partition": number, "record_bytes": 100 + number, "error_code": 0}
        for number in range(PARTITIONS + 2)
    ]
    more: list[dict[str, Any]] = [
        {"time": T0 + S, "api_key": 1, "topic_id": "some-id", "partition": 0, "record_bytes": 5000, "error_code": 6},
        {"time": T0, "api_key": 1, "partition": 0, "record_bytes": 9},
    ]
    found = partitions_over_time(frame(spark, "partitions", *rows, *more), SPAN)
    told = rows_of(found, "partitions_over_time", "topic", "partition")
    assert len(told) == PARTITIONS + 1
    assert [row for row in told if row["topic"] is None] == [
        {"bucket": 1, "topic": None, "partition": None, "bytes": 100 + 101 + 102, "requests": 3, "errors": 0}
    ]
    assert picked([row for row in told if row["topic"] == "some-id"], "bytes", "errors") == [(5000, 1)]


def test_brokers_beyond_the_busiest_are_one(spark: SparkSession) -> None:
    busy = [{**ASKED, "broker": f"b{number:02}:9092"} for number in range(BROKERS) for _ in range(2)]
    quiet = [
        {**ASKED, "broker": "q1:9092", "latency_ms": 2.0},
        {**SILENT, "broker": "q2:9092"},
        {**ASKED, "broker": "q3:9092", "latency_ms": 900.0, "error_code": 6},
        {"broker": "q3:9092", "response_bytes": 7, "outcome": "no-request"},
    ]
    found = rows_of(brokers_over_time(frame(spark, "exchanges", *busy, *quiet), SPAN), "brokers_over_time", "broker")
    rest = [row for row in found if row["broker"] is None]
    assert picked(rest, "bucket", "requests", "failures", "service_p99_ms") == [(0, 3, 2, 891.02)]
    assert len(found) == BROKERS + 1
    assert picked([row for row in found if row["broker"] == "b00:9092"], "requests", "failures") == [(2, 0)]


def test_the_span_is_that_of_exchanges_and_connections(spark: SparkSession) -> None:
    tables = {
        "exchanges": frame(spark, "exchanges", {"time": T0 + 5 * S}),
        "connections": frame(spark, "connections", {"first_time": T0, "last_time": T0 + 2 * S}),
    }
    (row,) = moments(tables).collect()
    assert (row["first"], row["last"]) == (T0 // 1000, T0 // 1000 + 5_000_000)
    (row,) = moments({name: frame(spark, name) for name in tables}).collect()
    assert (row["first"], row["last"]) == (None, None)
