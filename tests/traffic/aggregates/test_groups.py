"""The timeline of groups, and what triggered each rebalance, from group events as one writes them down."""

from typing import Any

import pytest
from pyspark.sql import SparkSession

from netdiag.traffic.aggregates.groups import assignments, generations, rebalances
from tests.traffic.aggregates.frames import MS, T0, frame, picked, rows_of

JOIN, SYNC, BEAT, LEAVE, CONSUMER = 11, 14, 12, 13, 68


def event(at: float, api_key: int, member: str, generation: int | None = None, **more: Any) -> dict[str, Any]:
    """An exchange `at` milliseconds, answered a millisecond later unless it says otherwise."""
    answered = more.pop("answered", at + 1)
    return {
        "time": int(T0 + at * MS),
        "response_time": int(T0 + answered * MS),
        "api_key": api_key,
        "member_id": member,
        "client_id": member.partition("-")[0],
        "client": f"10.0.0.{ord(member[0]) % 100}:4000",
        "generation": generation,
        **more,
    }


def generation(at: float, number: int, *members: str, **more: Any) -> list[dict[str, Any]]:
    """Everybody joins, the first one leads, everybody gets a partition."""
    found = []
    for index, member in enumerate(members):
        usual = {
            "answered": at + 10,
            "leader": members[0],
            "members": members if index == 0 else (),
            "protocol": "range",
            "session_timeout_ms": 10_000,
        }
        found.append(event(at + index, JOIN, member, number, **{**usual, **more}))
        found.append(event(at + 10, SYNC, member, number, answered=at + 20, assignment=(f"t-{index}",)))
    return found


def beats(begin: float, end: float, member: str, number: int, **more: Any) -> list[dict[str, Any]]:
    """Heartbeats every three seconds."""
    return [event(at, BEAT, member, number, **more) for at in range(int(begin), int(end), 3000)]


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


FIRST = generation(0, 1, "a-1", "b-1")


def again(at: float, reason: str, *members: str, **more: Any) -> list[dict[str, Any]]:
    """The second generation; only its first member gives a reason."""
    later = generation(at, 2, *members, **more)
    return [{**step, "reason": reason} if step["member_id"] == members[0] else step for step in later]


POLL = "consumer poll timeout has expired."
BUSY = "group is already rebalancing"
GROWN = [
    {"topic": "t", "partition": partition, "time": T0 + at * MS, "correlation_id": at}
    for at, count in ((-100, 2), (15_000, 2), (18_000, 3))
    for partition in range(count)
]

HEARTBEATS = [
    event(0, CONSUMER, "a-1", 1),
    event(5000, CONSUMER, "b-1", 2),
    event(6000, CONSUMER, "a-1", 2),
    event(8000, CONSUMER, "b-1", -1),
    event(9000, CONSUMER, "a-1", 3),
]


def subscribed(steps: list[dict[str, Any]], topic: str) -> list[dict[str, Any]]:
    """The same members with a subscription."""
    return [{**step, "subscription": (topic,) if step["api_key"] == JOIN else None} for step in steps]


CASES: dict[str, tuple[list[dict[str, Any]], tuple[str, str | None]]] = {
    "a new member": (
        [*again(20_000, BUSY, "a-1", "b-1", "c-1"), event(19_000, JOIN, "c-1", -1, error_code=79)],
        ("join", "c-1"),
    ),
    "a member says that it leaves": (
        [
            event(19_000, LEAVE, "b-1", members=("b-1",), reason="the consumer is being closed"),
            *again(20_000, BUSY, "a-1"),
        ],
        ("leave", "b-1"),
    ),
    "a member without a reason leaves": ([event(19_000, LEAVE, "b-1"), *again(20_000, "", "a-1")], ("leave", "b-1")),
    "a leave that was refused is none": (
        [event(19_000, LEAVE, "b-1", error_code=25), *again(20_000, "", "a-1", "b-1")],
        ("unknown", None),
    ),
    "a member polls too late": (
        [event(19_000, LEAVE, "b-1", reason=POLL), *again(20_000, BUSY, "a-1")],
        ("poll-interval", "b-1"),
    ),
    "a member falls silent": (
        [*beats(1000, 20_000, "a-1", 1), *beats(1000, 9000, "b-1", 1), *again(17_200, BUSY, "a-1")],
        ("session-timeout", "b-1"),
    ),
    "a member that still beats is not silent": (
        [*beats(1000, 20_000, "a-1", 1), *beats(1000, 20_000, "b-1", 1), *again(20_000, "", "a-1")],
        ("unknown", None),
    ),
    "the application asks for it": (
        again(20_000, "rebalance enforced by user", "a-1", "b-1"),
        ("enforced", "a-1"),
    ),
    "the application says why": (again(20_000, "cache is warm now", "b-1", "a-1"), ("enforced", "b-1")),
    "the leader sees new partitions": (
        again(20_000, "cached metadata has changed", "a-1", "b-1"),
        ("new-partitions", "a-1"),
    ),
    "the subscription changes": (again(20_000, "subscription has changed", "b-1", "a-1"), ("subscription", "b-1")),
    "the second step of a cooperative one": (
        again(20_000, "need to revoke partitions and re-join", "b-1", "a-1"),
        ("revocation", "b-1"),
    ),
    "nobody says anything": (again(20_000, "", "a-1", "b-1"), ("unknown", None)),
    "an answer to the coordinator's call is no cause": (again(20_000, BUSY, "a-1", "b-1"), ("unknown", None)),
    "rejoining after an error": (
        again(20_000, "encountered UNKNOWN_MEMBER_ID from HEARTBEAT response", "a-1", "b-1"),
        ("error", "a-1"),
    ),
    "what came before the first generation does not count for the second": (
        [event(-1000, LEAVE, "z-1"), *again(20_000, "", "a-1", "b-1")],
        ("unknown", None),
    ),
}


COOPERATIVE = {"protocol": "cooperative-sticky", "owned": ("t-0", "t-1")}
QUIET = [*FIRST, *again(20_000, "", "a-1", "b-1")]

# Groups of another kind: all that happens, and the trigger of the last generation.
WHOLE: dict[str, tuple[list[dict[str, Any]], str]] = {
    "there before the capture": (generation(0, 7, "a-1"), "unknown"),
    "new in the capture": (generation(0, 1, "a-1"), "join"),
    # Clients that give no reason: the topic had two partitions, then three.
    "a topic that grew": (subscribed(QUIET, "t"), "new-partitions"),
    "another topic grew": (subscribed(QUIET, "u"), "unknown"),
    # Somebody got less than it owned, so everybody comes again.
    "a cooperative step without a reason": (
        [*generation(0, 1, "a-1", "b-1", **COOPERATIVE), *generation(500, 2, "a-1", "b-1", **COOPERATIVE)],
        "revocation",
    ),
    "the new protocol, first": ([event(0, CONSUMER, "a-1", 1)], "join"),
    "the new protocol, second": (HEARTBEATS[:3], "join"),
    "the new protocol, third": (HEARTBEATS, "leave"),
}


@pytest.fixture(scope="module")
def found(spark: SparkSession) -> dict[str, dict[str, Any]]:
    """The last generation of every case; each is a group of its own: one question for all of them."""
    cases = {name: [*FIRST, *steps] for name, (steps, _) in CASES.items()} | {
        name: steps for name, (steps, _) in WHOLE.items()
    }
    events = [{**step, "group": name} for name, steps in cases.items() for step in steps]
    frames = frame(spark, "group_events", *events), frame(spark, "leaders", *GROWN)
    return {row["group"]: row for row in rows_of(rebalances(*frames), "rebalances", "group", "generation")}


@pytest.mark.parametrize("name", CASES)
def test_a_trigger_and_its_member(found: dict[str, dict[str, Any]], name: str) -> None:
    assert (found[name]["trigger"], found[name]["trigger_member"]) == CASES[name][1]


@pytest.mark.parametrize("name", WHOLE)
def test_a_trigger_of_the_last_generation(found: dict[str, dict[str, Any]], name: str) -> None:
    assert found[name]["trigger"] == WHOLE[name][1]


def test_the_member_has_its_client(found: dict[str, dict[str, Any]]) -> None:
    row = found["a new member"]
    assert (row["trigger_client"], row["trigger_client_id"], row["joined"], row["left"]) == (
        "10.0.0.99:4000",
        "c",
        1,
        0,
    )
    assert found["a member polls too late"]["reason"] == POLL
