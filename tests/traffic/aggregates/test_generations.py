"""Generations in their order, each with what was before it."""

from pyspark.sql import SparkSession

from netdiag.traffic.aggregates.generations import generations
from tests.traffic.aggregates.frames import MS, T0, frame
from tests.traffic.aggregates.group_steps import CONSUMER, JOIN, event, generation


def test_the_leader_knows_everybody(spark: SparkSession) -> None:
    """A member whose JoinGroup is not in the capture is in the list that the leader got."""
    events = [*generation(0, 3, "a"), event(0, JOIN, "b", 4, leader="b", members=("b", "a", "c"))]
    found = {row.generation: row for row in generations(frame(spark, "group_events", *events)).collect()}
    assert found[4].members == ["a", "b", "c"]
    assert (found[3].state, found[4].state) == ("stable", "incomplete")
    assert (found[3]._before, found[4]._before) == (None, ["a"])
    assert found[4].time.timestamp() == T0 / 1e9


def test_joins_that_were_refused_make_no_generation(spark: SparkSession) -> None:
    refused = event(0, JOIN, "a", -1, error_code=79)
    assert generations(frame(spark, "group_events", refused)).collect() == []


def test_epochs_of_the_new_protocol(spark: SparkSession) -> None:
    events = [
        event(0, CONSUMER, "a", 1),
        event(5000, CONSUMER, "a", 1),
        event(6000, CONSUMER, "b", 2, instance_id="i"),
        event(9000, CONSUMER, "a", 2),
        event(9500, CONSUMER, "a", -1),
    ]
    rows = generations(frame(spark, "group_events", *events)).orderBy("generation").collect()
    assert [(row.generation, row.members, row.protocol) for row in rows] == [
        (1, ["a"], "consumer"),
        (2, ["a", "b"], "consumer"),
    ]
    assert rows[1].end_time.timestamp() * 1000 == (T0 + 9001 * MS) / MS
    assert rows[1].static_members == ["i"]
