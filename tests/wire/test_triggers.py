"""The lines of a broker's log, and the rows that are held against them."""

from typing import Any

import pytest

from tests.wire.traffic.facts import Facts, Generation, Position, Rebalance
from tests.wire.triggers import expected, wrong_lags, wrong_rebalances

JOIN = "Adding new member m-1 with group instance id None; client reason: not provided"


@pytest.mark.parametrize(
    ("reason", "member", "trigger"),
    [
        (JOIN, "m-1", "join"),
        ("removing member m-1 on heartbeat expiration", "m-1", "session-timeout"),
        ("Removing member m-1 on LeaveGroup; client reason: the consumer is being closed", "m-1", "leave"),
        (
            "Removing member m-1 on LeaveGroup; client reason: consumer poll timeout has expired.",
            "m-1",
            "poll-interval",
        ),
        ("Leader m-1 re-joining group during Stable; client reason: asked for", "m-1", "enforced"),
        ("Leader m-1 re-joining group during Stable; client reason: need to revoke partitions", "m-1", "revocation"),
        (
            "Leader m-1 re-joining group during Stable; client reason: cached metadata has changed",
            "m-1",
            "new-partitions",
        ),
    ],
)
def test_what_a_line_means(reason: str, member: str, trigger: str) -> None:
    assert expected(Rebalance(group="g", generation=1, reason=reason)) == (member, frozenset({trigger}))


def test_a_line_that_does_not_tell() -> None:
    reason = "Leader m-1 re-joining group during Stable; client reason: not provided"
    assert expected(Rebalance(group="g", generation=1, reason=reason)) is None


def _facts() -> Facts:
    return Facts(
        rebalances=[Rebalance(group="g", generation=0, reason=JOIN)],
        generations=[Generation(group="g", number=1, is_classic=True)],
        positions=[Position(group="g", topic="t", partition=0, current=1, end=3, lag=2)],
    )


def _row(**other: Any) -> dict[str, Any]:
    usual = {"group": "g", "generation": 1, "protocol": "range", "trigger": "join", "trigger_member": "m-1"}
    return {**usual, **other}


def test_rebalances_are_compared() -> None:
    assert wrong_rebalances(_facts(), [_row()]) == ([], 1)
    assert wrong_rebalances(_facts(), [])[0]
    assert wrong_rebalances(_facts(), [_row(), _row(generation=2)])[0]
    assert wrong_rebalances(_facts(), [_row(trigger="leave")])[0]
    assert wrong_rebalances(_facts(), [_row(trigger_member="m-2")])[0]


def test_lags_are_compared() -> None:
    right = {"group": "g", "topic": "t", "partition": 0, "lag_records": 2}
    assert wrong_lags(_facts(), [right]) == []
    assert wrong_lags(_facts(), [{**right, "lag_records": 1}])
    assert wrong_lags(_facts(), [])
