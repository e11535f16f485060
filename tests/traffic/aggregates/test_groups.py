"""The timeline of a group, and who got what."""

from pyspark.sql import SparkSession

from netdiag.traffic.aggregates.groups import assignments, rebalances
from tests.traffic.aggregates.frames import MS, T0, frame, picked, rows_of
from tests.traffic.aggregates.group_steps import CONSUMER, LEAVE, event, generation


def test_a_timeline(spark: SparkSession) -> None:
    events = [
        *generation(0, 1, "a-1"),
        *generation(5000, 2, "a-1", "b-1", instance_id="one"),
        event(9000, LEAVE, "b-1"),
        *generation(9100, 3, "a-1"),
        *[{**step, "group": "other"} for step in generation(0, 9, "c-1")],
    ]
    found = rebalances(frame(spark, "group_events", *events), frame(spark, "leaders"))
    rows = rows_of(found, "rebalances", "group", "generation")
    names = ("group", "generation", "trigger", "state", "leader", "members", "joined", "left", "duration_ms")
    assert picked(rows, *names) == [
        ("g", 1, "join", "stable", "a-1", ["a-1"], 0, 0, 20.0),
        ("g", 2, "join", "stable", "a-1", ["a-1", "b-1"], 1, 0, 20.0),
        ("g", 3, "leave", "stable", "a-1", ["a-1"], 0, 1, 20.0),
        ("other", 9, "unknown", "stable", "c-1", ["c-1"], 0, 0, 20.0),
    ]
    assert picked(rows, "time", "end_time", "static_members")[1] == (T0 + 5000 * MS, T0 + 5020 * MS, ["one"])


def test_assignments_of_both_protocols(spark: SparkSession) -> None:
    events = [
        *generation(0, 1, "a-1", "b-1"),
        event(9000, CONSUMER, "m", 4, group="new", assignment=("t-1", "t-0")),
        event(9500, CONSUMER, "m", 4, group="new", assignment=None),
    ]
    rows = rows_of(assignments(frame(spark, "group_events", *events)), "assignments", "group", "member_id")
    assert picked(rows, "group", "generation", "member_id", "is_leader", "assignment") == [
        ("g", 1, "a-1", True, ["t-0"]),
        ("g", 1, "b-1", False, ["t-1"]),
        ("new", 4, "m", False, ["t-0", "t-1"]),
    ]


def test_no_groups_no_rows(spark: SparkSession) -> None:
    nothing = frame(spark, "group_events")
    assert rows_of(rebalances(nothing, frame(spark, "leaders")), "rebalances") == []
    assert rows_of(assignments(nothing), "assignments") == []
