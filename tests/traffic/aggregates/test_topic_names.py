"""Ids become names with what a capture tells before and after, and stay ids where nothing tells."""

from pyspark.sql import SparkSession

from netdiag.traffic.aggregates.topic_names import topic_names, with_named_topics, with_topic_names
from tests.traffic.aggregates.frames import T0, S, frame

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
