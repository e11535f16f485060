"""Requests and answers, from tables: counts, errors, sizes, silences."""

from typing import TYPE_CHECKING, Any

from netdiag.traffic.insights import requests
from tests.traffic.insights.literal import answers, tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CLIENT, BROKER = "10.0.0.9:40000", "10.0.0.2:9092"
ENDS: dict[str, Any] = {"client": CLIENT, "broker": BROKER, "client_id": "app", "connection": 1}


def test_requests_by_api_with_the_busiest_ten_seconds(spark: "SparkSession") -> None:
    rows = [
        {**ENDS, "api_key": 3, "api_version": 1 + (at > 50), "time": at, "throttle_ms": at} for at in (0, 1, 2, 11, 60)
    ]
    rows += [{**ENDS, "api_key": 1, "time": 1, "replica_id": 2}, {**ENDS, "time": 1, "outcome": "no-request"}]
    (found,) = answers(requests.calls(tables(spark, exchanges=rows)))
    assert (found["api_key"], found["times"], found["busiest"]) == (3, 5, 3)
    assert (found["lowest"], found["highest"]) == (1, 2)
    assert (found["throttled"], found["throttle_ms"], found["longest_throttle_ms"]) == (4, 74, 60)


def test_errors_of_answers_partitions_and_topics(spark: "SparkSession") -> None:
    held = tables(
        spark,
        connections=[{**ENDS, "sasl_mechanism": "PLAIN"}],
        exchanges=[
            {**ENDS, "api_key": 36, "error_code": 58, "time": 1},
            {**ENDS, "api_key": 36, "error_code": 0, "time": 2},
            {**ENDS, "api_key": 0, "error_code": 6, "time": 2},
        ],
        partitions=[
            {"connection": 1, "api_key": 0, "topic": "t", "partition": 4, "error_code": 6, "time": 1},
            {"connection": 1, "api_key": 0, "topic": "t", "partition": 5, "error_code": 6, "time": 2},
            {"connection": 1, "api_key": 0, "topic": "t", "partition": 5, "error_code": 0, "time": 3},
            {"connection": 1, "api_key": 1, "topic": "t", "partition": 5, "error_code": 6, "time": 3, "replica_id": 2},
        ],
        leaders=[
            {"connection": 1, "correlation_id": 1, "topic": "gone", "error_code": 3, "time": 1},
            {"connection": 1, "correlation_id": 2, "topic": "gone", "error_code": 3, "time": 2},
            {"connection": 1, "correlation_id": 2, "topic": "t", "partition": 0, "error_code": 0, "time": 2},
        ],
    )
    found = {(row["api_key"], row["error_code"]): row for row in answers(requests.errors(held))}
    assert set(found) == {(36, 58), (0, 6), (3, 3)}
    assert (found[36, 58]["calls"], found[36, 58]["mechanism"]) == (2, "PLAIN")
    produced = found[0, 6]
    assert (produced["topic"], produced["partition"], produced["partitions"]) == ("t", 4, 2)
    assert (produced["times"], produced["calls"]) == (2, 3)
    assert (found[3, 3]["topic"], found[3, 3]["times"], found[3, 3]["calls"]) == ("gone", 2, 2)


def test_refused_sizes(spark: "SparkSession") -> None:
    held = tables(
        spark,
        connections=[ENDS],
        partitions=[
            {"connection": 1, "api_key": 0, "topic": "t", "partition": 0, "error_code": 10, "record_bytes": 2_000_000}
        ],
        exchanges=[
            {**ENDS, "api_key": 0, "request_bytes": 200_000_000, "outcome": "unanswered", "topics": ["u"]},
            {**ENDS, "api_key": 0, "request_bytes": 200_000_000, "topics": ["answered"]},
        ],
    )
    found = {row["topic"]: (row["error_code"], row["largest"]) for row in answers(requests.oversized(held))}
    assert found == {"t": (10, 2_000_000), "u": (0, 200_000_000)}


def test_silences_that_connections_ended_after(spark: "SparkSession") -> None:
    ended = {**ENDS, "ending": "fin", "last_time": 700}
    held = tables(
        spark,
        connections=[
            ended,
            {**ENDS, "connection": 2, "ending": "reset-by-broker", "last_time": 401},
            {**ended, "connection": 3, "lost_bytes": 1},
            {**ended, "connection": 4, "last_time": 130},
            {**ENDS, "connection": 5, "ending": "open", "last_time": 500},
        ],
        exchanges=[
            {**ENDS, "connection": number, "time": 99, "response_time": 100, "api_key": 3} for number in range(1, 6)
        ]
        + [{**ENDS, "connection": 2, "time": 400, "outcome": "unanswered", "api_key": 3}]
        + [{**ENDS, "connection": 5, "time": 400, "outcome": "unanswered", "api_key": 3}],
    )
    found = {row["used"]: row for row in answers(requests.idle(held))}
    assert (found[False]["times"], found[False]["idle_ms"], found[False]["ending"]) == (1, 600_000, "fin")
    assert (found[True]["times"], found[True]["idle_ms"], found[True]["ending"]) == (1, 300_000, "reset-by-broker")
