"""Waiting that was asked for is not slowness."""

from pyspark.sql import SparkSession

from netdiag.traffic.aggregates.latency import latency
from tests.traffic.aggregates.frames import frame, picked, rows_of


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
