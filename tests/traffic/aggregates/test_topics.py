"""What goes through topics, from tables with known rows."""

from typing import Any

import pytest
from pyspark.sql import SparkSession

from netdiag.traffic.aggregates.topics import (
    consume,
    produce,
    topic_names,
    topic_partitions,
    topics,
    transactions,
    with_named_topics,
    with_topic_names,
)
from tests.traffic.aggregates.frames import MS, T0, S, frame, picked, rows_of

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


A, B = "AAAAAAAAAAAAAAAAAAAAAA", "BBBBBBBBBBBBBBBBBBBBBB"


def test_a_name_told_later_counts_for_what_came_before(spark: SparkSession) -> None:
    partitions = frame(
        spark,
        "partitions",
        {"topic_id": A, "partition": 1},
        {"topic_id": B, "partition": 2},
        {"topic": "plain", "partition": 3},
    )
    leaders = frame(spark, "leaders", {"time": T0 + S, "topic": "orders", "topic_id": A})
    names = topic_names(leaders, partitions)
    found = {row.partition: row.topic for row in with_topic_names(partitions, names).collect()}
    assert found == {1: "orders", 2: None, 3: "plain"}
    exchanges = frame(spark, "exchanges", {"topics": (A, B, "plain")}, {"topics": None})
    assert [row.topics for row in with_named_topics(exchanges, names).collect()] == [["orders", B, "plain"], None]


def test_a_topic_made_again_keeps_its_name_under_both_ids(spark: SparkSession) -> None:
    leaders = frame(spark, "leaders", {"topic": "orders", "topic_id": A}, {"topic": "orders", "topic_id": B})
    names = topic_names(leaders, frame(spark, "partitions"))
    assert sorted(names.collect()) == [(A, "orders"), (B, "orders")]


def test_without_any_name_nothing_changes(spark: SparkSession) -> None:
    names = topic_names(frame(spark, "leaders"), frame(spark, "partitions"))
    exchanges = frame(spark, "exchanges", {"topics": (A,)})
    assert with_named_topics(exchanges, names).collect() == exchanges.collect()


def step(at: int, api_key: int, **more: Any) -> dict[str, Any]:
    return {
        "time": T0 + at * MS,
        "response_time": T0 + (at + 1) * MS,
        "api_key": api_key,
        "transactional_id": "t",
        "error_code": 0,
        "request_packet": at,
        **more,
    }


INIT, ADD, END, PRODUCE = 22, 24, 26, 0


def counted(spark: SparkSession, *steps: dict[str, Any]) -> dict[str, Any]:
    (row,) = rows_of(transactions(frame(spark, "exchanges", *steps)), "transactions")
    return {name: row[name] for name in ("begun", "committed", "aborted", "failed", "open")} | {
        "longest": row["duration_max_ms"]
    }


@pytest.mark.parametrize(("producer", "expected"), [("app", "app"), (None, "AddPartitionsManager-client-2")])
def test_a_broker_that_adds_partitions_is_not_the_producer(
    spark: SparkSession, producer: str | None, expected: str
) -> None:
    sent = [step(11, PRODUCE, client_id=producer), step(20, END, client_id=producer, committed=True)]
    steps = [step(10, ADD, client_id="AddPartitionsManager-client-2"), *(sent if producer else ())]
    (row,) = rows_of(transactions(frame(spark, "exchanges", *steps)), "transactions")
    assert row["client_id"] == expected


def test_commit_abort_and_one_without_end(spark: SparkSession) -> None:
    assert counted(
        spark,
        step(0, INIT),
        step(10, ADD),
        step(11, PRODUCE),
        step(20, END, committed=True),
        step(30, PRODUCE),
        step(90, END, committed=False),
        step(100, ADD),
    ) == {"begun": 3, "committed": 1, "aborted": 1, "failed": 0, "open": 1, "longest": 61.0}


def test_an_end_that_is_refused_may_be_tried_again(spark: SparkSession) -> None:
    assert counted(spark, step(0, ADD), step(5, END, committed=True, error_code=51), step(9, END, committed=True)) == {
        "begun": 1,
        "committed": 1,
        "aborted": 0,
        "failed": 0,
        "open": 0,
        "longest": 10.0,
    }


def test_a_producer_that_starts_anew_leaves_a_failed_one(spark: SparkSession) -> None:
    assert counted(spark, step(0, INIT), step(1, ADD), step(50, INIT)) == {
        "begun": 1,
        "committed": 0,
        "aborted": 0,
        "failed": 1,
        "open": 0,
        "longest": None,
    }
