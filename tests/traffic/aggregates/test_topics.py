"""What goes through topics; brokers that follow are no consumers."""

from pyspark.sql import SparkSession

from netdiag.traffic.aggregates.topics import topic_partitions, topics
from tests.traffic.aggregates.frames import T0, S, frame, picked, rows_of

ROWS = (
    {"api_key": 0, "correlation_id": 1, "topic": "a", "partition": 0, "records": 9, "record_bytes": 900},
    {"api_key": 0, "correlation_id": 1, "topic": "a", "partition": 1, "records": 1, "record_bytes": 100},
    {"api_key": 1, "correlation_id": 2, "topic": "a", "partition": 0, "records": 9, "record_bytes": 900},
    {"api_key": 1, "correlation_id": 3, "topic": "a", "partition": 0, "records": 0, "error_code": 6},
    {
        "api_key": 1,
        "correlation_id": 4,
        "topic": "a",
        "partition": 0,
        "records": 9,
        "record_bytes": 900,
        "replica_id": 2,
    },
    {"api_key": 8, "correlation_id": 5, "topic_id": "AAAAAAAAAAAAAAAAAAAAAA", "partition": 0},
)
SPAN: tuple[dict[str, int], ...] = ({}, {"time": T0 + 10 * S})


def test_produced_fetched_and_replicated_are_told_apart(spark: SparkSession) -> None:
    found = topics(frame(spark, "partitions", *ROWS), frame(spark, "exchanges", *SPAN))
    rows = rows_of(found, "topics", "topic")
    names = ("topic", "produce_requests", "produced_bytes", "fetches", "fetched_records", "fetched_bytes")
    assert picked(rows, *names) == [("AAAAAAAAAAAAAAAAAAAAAA", 0, 0, 0, 0, 0), ("a", 1, 1000, 1, 9, 900)]
    assert picked(rows[1:], "replicated_bytes", "errors", "partitions", "produced_per_s") == [(900, 1, 2, 100.0)]


def test_the_share_of_a_partition(spark: SparkSession) -> None:
    found = topic_partitions(frame(spark, "partitions", *ROWS), frame(spark, "exchanges", *SPAN))
    rows = rows_of(found, "topic_partitions", "topic", "partition")
    assert picked(rows, "partition", "produced_records", "share") == [(0, 0, None), (0, 9, 0.9), (1, 1, 0.1)]
