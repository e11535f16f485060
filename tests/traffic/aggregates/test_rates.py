"""Requests and bytes, by whom and when."""

from pyspark.sql import SparkSession

from netdiag.traffic.aggregates.rates import rates, timeline
from tests.traffic.aggregates.frames import MS, T0, S, frame, picked, rows_of

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
