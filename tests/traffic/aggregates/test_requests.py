"""What was asked and what came of it, from tables with known rows."""

from pyspark.sql import SparkSession

from netdiag.traffic.aggregates.requests import coverage, errors, latency, loss_kinds, rates, throttling, timeline
from tests.traffic.aggregates.frames import MS, T0, S, frame, picked, rows_of


def test_exchanges_by_how_far_they_were_decoded(spark: SparkSession) -> None:
    whole = {"api_name": "Fetch", "api_version": 17, "request_bytes": 10, "response_bytes": 20}
    exchanges = frame(spark, "exchanges", whole, whole, {**whole, "decoded": "header", "response_bytes": None})
    rows = rows_of(coverage(exchanges), "coverage", "decoded")
    assert picked(rows, "decoded", "exchanges", "bytes") == [("full", 2, 60), ("header", 1, 10)]


def test_losses_by_kind(spark: SparkSession) -> None:
    gap = {"file": "f", "kind": "gap", "bytes": 10, "times": 2, "connection": 1}
    losses = frame(spark, "losses", gap, {**gap, "connection": 2}, {**gap, "kind": "damage", "connection": None})
    rows = rows_of(loss_kinds(losses), "loss_kinds", "kind")
    assert picked(rows, "kind", "connections", "bytes", "times") == [("damage", 0, 10, 2), ("gap", 2, 20, 4)]


PRODUCE = {
    "api_key": 0,
    "api_name": "Produce",
    "client_id": "app",
    "request_bytes": 1000,
    "response_bytes": 50,
    "records": 10,
    "record_bytes": 900,
    "latency_ms": 5.0,
    "response_time": T0 + 5 * MS,
}


def test_every_exchange_counts_once_for_each_face(spark: SparkSession) -> None:
    exchanges = frame(
        spark,
        "exchanges",
        PRODUCE,
        {**PRODUCE, "time": T0 + 9 * S, "response_time": T0 + 10 * S, "client": "10.0.0.2:41000"},
        {"client": "10.0.0.3:1", "response_bytes": 7, "outcome": "no-request"},
    )
    rows = rows_of(rates(exchanges), "rates", "by", "value")
    assert picked(rows, "by", "value", "requests", "responses", "request_bytes", "response_bytes", "records") == [
        ("api", "Produce", 2, 2, 2000, 100, 20),
        ("broker", "10.0.0.9:9092", 2, 3, 2000, 107, 20),
        ("client", "10.0.0.2", 2, 2, 2000, 100, 20),
        ("client", "10.0.0.3", 0, 1, 0, 7, 0),
        ("client_id", "app", 2, 2, 2000, 100, 20),
    ]
    assert rows[0]["requests_per_s"] == 0.2
    assert rows[0]["bytes_per_s"] == 210.0


def test_intervals_are_of_the_clock(spark: SparkSession) -> None:
    exchanges = frame(
        spark,
        "exchanges",
        {**PRODUCE, "time": T0 + 900 * MS},
        {**PRODUCE, "time": T0 + 1900 * MS, "error_code": 6},
        {**PRODUCE, "time": T0 + 9 * S, "outcome": "unanswered", "response_bytes": None, "latency_ms": None},
    )
    rows = rows_of(timeline(exchanges, 2), "timeline", "time")
    names = ("time", "seconds", "requests", "responses", "errors", "unanswered", "latency_p95_ms")
    assert picked(rows, *names) == [(T0, 2, 2, 2, 1, 0, 5.0), (T0 + 8 * S, 2, 1, 0, 0, 1, None)]


def test_nothing_gives_nothing(spark: SparkSession) -> None:
    assert rows_of(rates(frame(spark, "exchanges")), "rates") == []
    assert rows_of(timeline(frame(spark, "exchanges")), "timeline") == []


def answered(api_key: int, api_name: str, latency_ms: float, **more: object) -> dict[str, object]:
    return {"api_key": api_key, "api_name": api_name, "latency_ms": latency_ms, "request_bytes": 1, **more}


def test_an_empty_fetch_waited_and_one_with_records_counts_in_full(spark: SparkSession) -> None:
    exchanges = frame(
        spark,
        "exchanges",
        answered(1, "Fetch", 503.0, wait_ms=500, empty=True),
        answered(1, "Fetch", 504.0, wait_ms=500, empty=True),
        answered(1, "Fetch", 120.0, wait_ms=500, empty=False),
        # Answered before its time was over: it did not wait for records.
        answered(1, "Fetch", 7.0, wait_ms=500, empty=True),
        answered(11, "JoinGroup", 3000.0, wait_ms=300_000),
        answered(0, "Produce", 2.0),
        {"api_key": 0, "api_name": "Produce", "request_bytes": 1, "outcome": "unanswered"},
        {"outcome": "no-request"},
    )
    rows = rows_of(latency(exchanges), "latency", "api_name")
    names = ("api_name", "requests", "answered", "unanswered", "waiting", "latency_max_ms", "service_max_ms")
    assert picked(rows, *names) == [
        ("Fetch", 4, 4, 0, 3, 504.0, 120.0),
        ("JoinGroup", 1, 1, 0, 1, 3000.0, None),
        ("Produce", 2, 1, 1, 0, 2.0, 2.0),
    ]
    assert rows[0]["service_p50_ms"] == 5.5


def test_an_error_of_a_partition_is_not_counted_again_for_its_exchange(spark: SparkSession) -> None:
    exchanges = frame(
        spark,
        "exchanges",
        {"connection": 1, "correlation_id": 1, "api_name": "Produce", "error_code": 6, "client_id": "app"},
        {"connection": 1, "correlation_id": 2, "api_name": "Heartbeat", "error_code": 27},
        {
            "connection": 1,
            "correlation_id": 3,
            "api_name": "Metadata",
            "error_code": 3,
            "response_time": T0 + MS,
        },
        {"connection": 1, "correlation_id": 4, "api_name": "Produce", "error_code": 0},
        # The same correlation id again, much later, without an error.
        {"connection": 1, "correlation_id": 1, "time": T0 + 9 * MS, "api_name": "Fetch", "error_code": 0},
    )
    partitions = frame(
        spark,
        "partitions",
        {"connection": 1, "correlation_id": 1, "topic": "a", "partition": 0, "error_code": 6},
        {"connection": 1, "correlation_id": 1, "topic": "a", "partition": 1, "error_code": 6},
        {"connection": 1, "correlation_id": 1, "topic": "b", "partition": 0, "error_code": 7},
        {"connection": 1, "correlation_id": 4, "topic": "a", "partition": 0, "error_code": 0},
    )
    leaders = frame(
        spark,
        "leaders",
        {"connection": 1, "correlation_id": 3, "time": T0 + MS, "topic": "gone", "error_code": 3},
    )
    rows = rows_of(errors(exchanges, partitions, leaders), "errors", "api_name", "topic")
    assert picked(rows, "api_name", "error", "topic", "times", "clients", "client_id") == [
        ("Heartbeat", "REBALANCE_IN_PROGRESS", None, 1, 1, None),
        ("Metadata", "UNKNOWN_TOPIC_OR_PARTITION", "gone", 1, 1, None),
        ("Produce", "NOT_LEADER_OR_FOLLOWER", "a", 1, 1, "app"),
        ("Produce", "REQUEST_TIMED_OUT", "b", 1, 1, "app"),
    ]


def test_throttling_is_summed_up(spark: SparkSession) -> None:
    slow = {"api_name": "Produce", "client_id": "app", "throttle_ms": 100}
    exchanges = frame(spark, "exchanges", slow, {**slow, "throttle_ms": 300}, {**slow, "throttle_ms": 0})
    rows = rows_of(throttling(exchanges), "throttling")
    assert picked(rows, "client_id", "client", "times", "throttle_ms", "longest_ms") == [
        ("app", "10.0.0.2", 2, 400, 300)
    ]
