"""What producers send, what consumers get."""

from pyspark.sql import SparkSession

from netdiag.traffic.aggregates.records import consume, produce
from tests.traffic.aggregates.frames import T0, S, frame, picked, rows_of


def test_batches_by_how_they_were_sent(spark: SparkSession) -> None:
    batch = {
        "connection": 1,
        "correlation_id": 1,
        "api_key": 0,
        "client_id": "app",
        "topic": "a",
        "codec": "zstd",
        "producer_id": 7,
        "transactional": False,
        "records": 10,
        "bytes": 500,
    }
    batches = frame(
        spark,
        "batches",
        batch,
        {**batch, "records": 30, "bytes": 1500},
        {**batch, "correlation_id": 2, "codec": "none", "producer_id": -1},
        {**batch, "api_key": 1},
    )
    exchanges = frame(
        spark,
        "exchanges",
        {"connection": 1, "correlation_id": 1, "api_key": 0, "acks": -1},
        {"connection": 1, "correlation_id": 2, "api_key": 0, "acks": 1},
        {"connection": 1, "correlation_id": 2, "api_key": 0, "acks": 0, "time": T0 + S},
    )
    rows = rows_of(produce(batches, exchanges), "produce", "codec")
    names = ("codec", "acks", "idempotent", "batches", "records", "bytes", "batch_bytes_p50", "records_max")
    assert picked(rows, *names) == [
        ("none", 1, False, 1, 10, 500, 500.0, 10),
        ("zstd", -1, True, 2, 40, 2000, 1000.0, 30),
    ]


def test_consumers_and_their_group(spark: SparkSession) -> None:
    fetch = {"api_key": 1, "client_id": "app", "response_bytes": 1, "empty": True}
    full = {**fetch, "empty": False, "records": 5, "record_bytes": 400, "topics": ("b", "a")}
    exchanges = frame(
        spark,
        "exchanges",
        fetch,
        full,
        {**full, "client": "10.0.0.2:3", "topics": ("a",)},
        {**full, "client_id": "two", "client": "10.0.0.3:1"},
        {**full, "client_id": "broker", "replica_id": 3},
        {**fetch, "response_bytes": None, "outcome": "unanswered"},
    )
    group_events = frame(
        spark,
        "group_events",
        {"client_id": "app", "group": "orders"},
        {"client_id": "two", "client": "10.0.0.3:1", "group": "x"},
        {"client_id": "two", "client": "10.0.0.3:1", "group": "y"},
    )
    rows = rows_of(consume(exchanges, group_events), "consume", "client_id")
    names = ("client_id", "group", "fetches", "empty", "records", "bytes", "bytes_per_fetch", "topics")
    assert picked(rows, *names) == [
        ("app", "orders", 3, 1, 10, 800, 400.0, ["a", "b"]),
        ("two", None, 1, 0, 5, 400, 400.0, ["a", "b"]),
    ]
