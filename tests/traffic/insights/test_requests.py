"""Requests and answers, from tables: counts, errors, sizes, silences."""

from typing import TYPE_CHECKING, Any

from netdiag.traffic import insights
from tests.traffic.insights.literal_tables import answers, tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


CLIENT, BROKER = "10.0.0.9:40000", "10.0.0.2:9092"
ENDS: dict[str, Any] = {"client": CLIENT, "broker": BROKER, "client_id": "app", "connection": 1}


def test_requests_by_api_with_the_busiest_ten_seconds(spark: "SparkSession") -> None:
    rows = [
        {**ENDS, "api_key": 3, "api_version": 1 + (at > 50), "time": at, "throttle_ms": at} for at in (0, 1, 2, 11, 60)
    ]
    rows += [{**ENDS, "api_key": 1, "time": 1, "replica_id": 2}, {**ENDS, "time": 1, "outcome": "no-request"}]
    (found,) = answers(insights.request_counts(tables(spark, exchanges=rows)))
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
    found = {(row["api_key"], row["error_code"]): row for row in answers(insights.errors(held))}
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
    found = {row["topic"]: (row["error_code"], row["largest"]) for row in answers(insights.oversized(held))}
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
    found = {row["used"]: row for row in answers(insights.idle_connections(held))}
    assert (found[False]["times"], found[False]["idle_ms"], found[False]["ending"]) == (1, 600_000, "fin")
    assert (found[True]["times"], found[True]["idle_ms"], found[True]["ending"]) == (1, 300_000, "reset-by-broker")


ENDS_OF_PRODUCER: dict[str, Any] = {
    "client": "10.0.0.9:40000",
    "broker": "10.0.0.2:9092",
    "client_id": "app",
    "connection": 1,
}
LEADERS = [{"connection": 1, "topic": "t", "partition": n, "leader_id": 1, "replicas": 3} for n in range(4)]


def test_batches_by_client_and_topic_and_those_sent_again(spark: "SparkSession") -> None:
    batch = {"connection": 1, "topic": "t", "partition": 0, "records": 2, "bytes": 100}
    held = tables(
        spark,
        connections=[ENDS_OF_PRODUCER],
        leaders=LEADERS,
        batches=[
            *({**batch, "producer_id": 5, "producer_epoch": 0, "base_sequence": 0, "codec": "lz4"} for _ in range(3)),
            {**batch, "producer_id": 5, "producer_epoch": 0, "base_sequence": 2, "codec": "lz4"},
            batch,
            batch,
            {**batch, "control": True},
            {**batch, "api_key": 1},
        ],
    )
    (found,) = answers(insights.produced_batches(held))
    assert (found["times"], found["records"], found["bytes"], found["replicas"]) == (6, 12, 600, 3)
    assert (found["plain"], found["plain_bytes"], found["plain_records"]) == (2, 200, 4)
    assert (found["resent"], found["most_resent"]) == (2, 3)


def test_acks_by_topic(spark: "SparkSession") -> None:
    rows = [
        {**ENDS_OF_PRODUCER, "api_key": 0, "acks": acks, "topics": ["t", "u"], "request_packet": 4}
        for acks in (1, 1, -1)
    ]
    found = {
        (row["topic"], row["acks"]): (row["times"], row["replicas"], row["packet"])
        for row in answers(insights.acks(tables(spark, exchanges=rows, leaders=LEADERS)))
    }
    assert found == {("t", 1): (2, 3, 4), ("t", -1): (1, 3, 4), ("u", 1): (2, None, 4), ("u", -1): (1, None, 4)}


def test_the_busiest_partition_and_who_fills_it(spark: "SparkSession") -> None:
    other = {**ENDS_OF_PRODUCER, "connection": 2, "client": "10.0.0.8:40000", "client_id": "heavy"}
    row = {"topic": "t", "api_key": 0, "records": 1}
    held = tables(
        spark,
        connections=[ENDS_OF_PRODUCER, other],
        leaders=LEADERS,
        partitions=[
            {**row, "connection": 1, "client_id": "app", "partition": 0, "record_bytes": 10},
            {**row, "connection": 1, "client_id": "app", "partition": 2, "record_bytes": 30},
            {**row, "connection": 2, "client_id": "heavy", "partition": 2, "record_bytes": 60},
            {**row, "connection": 2, "partition": 2, "record_bytes": 900, "api_key": 1},
            {**row, "connection": 2, "partition": 0, "record_bytes": 900, "topic": "unknown"},
        ],
    )
    (found,) = answers(insights.skews(held))
    assert (found["topic"], found["partition"], found["partitions"], found["batches"]) == ("t", 2, 4, 2)
    assert (found["bytes"], found["all_bytes"], found["client_id"]) == (90, 100, "heavy")
