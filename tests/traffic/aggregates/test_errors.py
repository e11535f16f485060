"""Each error once: with its topic where there is one, without where there is none."""

from pyspark.sql import SparkSession

from netdiag.traffic.aggregates.errors import errors, throttling
from tests.traffic.aggregates.frames import MS, T0, frame, picked, rows_of


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
