"""Why groups rebalance, told from their steps alone: a dialogue for each trigger."""

from typing import Any

import pytest

from netdiag.traffic.facts import SECOND, GroupStep
from netdiag.traffic.rebalances import Rebalance, Trigger, rebalances

JOIN, BEAT, LEAVE, NEW = 11, 12, 13, 68


def step(at: float, api_key: int, member: str, generation: int | None = None, **more: Any) -> GroupStep:
    number = more.pop("who", member[-1])
    last = more.pop("last", at)
    return GroupStep(
        group="g",
        api_key=api_key,
        member_id=member,
        generation=generation,
        time=int(at * SECOND),
        last=int(last * SECOND),
        client=more.pop("client", f"10.0.0.{number}:4000"),
        client_id=f"app-{number}",
        **more,
    )


TWO = (step(0, JOIN, "m1", 1), step(0, JOIN, "m2", 1))


def only(*steps: GroupStep) -> Rebalance:
    (found,) = rebalances((*TWO, *steps))["g"]
    return found


def test_a_new_member_joins() -> None:
    found = only(step(5, JOIN, "m3", 2), step(6, JOIN, "m1", 2), step(6, JOIN, "m2", 2))
    assert (found.trigger, found.member, found.generation) == (Trigger.JOIN, ("10.0.0.3", "app-3"), 2)
    known = only(step(5, JOIN, "m3", 2, instance_id="third"), step(6, JOIN, "m1", 2))
    assert known.member == ("10.0.0.3", "third")


def test_a_member_leaves() -> None:
    found = only(step(5, LEAVE, "m2", reason="the consumer is being closed"), step(6, JOIN, "m1", 2))
    assert (found.trigger, found.member) == (Trigger.LEAVE, ("10.0.0.2", "app-2"))
    assert only(step(5, LEAVE, "m2"), step(6, JOIN, "m1", 2)).trigger is Trigger.LEAVE


def test_a_member_that_does_not_poll_leaves_and_says_so() -> None:
    found = only(step(5, LEAVE, "m2", reason="consumer poll timeout has expired."), step(6, JOIN, "m1", 2))
    assert (found.trigger, found.member) == (Trigger.POLL_INTERVAL, ("10.0.0.2", "app-2"))


def test_a_member_that_leaves_and_joins_on_the_same_connection_did_not_poll() -> None:
    first, second = rebalances(
        (
            *TWO,
            step(5, LEAVE, "m2"),
            step(6, JOIN, "m1", 2),
            step(9, JOIN, "m9", 3, who="2"),
            step(10, JOIN, "m1", 3),
        )
    )["g"]
    assert (first.trigger, second.trigger) == (Trigger.POLL_INTERVAL, Trigger.JOIN)


def test_a_member_without_heartbeats_is_thrown_out() -> None:
    found = only(
        step(1, BEAT, "m2", 1, last=9),
        step(1, BEAT, "m1", 1, last=54),
        step(54, BEAT, "m1", 1, error_code=27),
        step(55, JOIN, "m1", 2, reason="group is already rebalancing"),
    )
    assert (found.trigger, found.member) == (Trigger.SESSION_TIMEOUT, ("10.0.0.2", "app-2"))


def test_a_member_that_is_told_it_is_unknown_was_thrown_out() -> None:
    found = only(
        step(50, BEAT, "m2", 1, error_code=25),
        step(51, JOIN, "m7", 2, who="2"),
        step(52, JOIN, "m1", 2),
    )
    assert (found.trigger, found.member) == (Trigger.SESSION_TIMEOUT, ("10.0.0.2", "app-2"))


def test_a_member_that_learns_late_that_it_was_thrown_out_joins() -> None:
    first, second = rebalances(
        (
            *TWO,
            step(30, BEAT, "m1", 1, error_code=27),
            step(31, JOIN, "m1", 2),
            step(60, BEAT, "m2", 1, error_code=25),
            step(61, JOIN, "m8", 3, who="2"),
            step(62, JOIN, "m1", 3),
        )
    )["g"]
    assert (first.trigger, second.trigger) == (Trigger.SESSION_TIMEOUT, Trigger.JOIN)


def test_a_member_that_is_heard_of_again_was_not_dead() -> None:
    found = only(
        step(9, BEAT, "m1", 1, error_code=27),
        step(9, BEAT, "m2", 1, error_code=27, last=300),
        step(10, JOIN, "m1", 2, reason="group is already rebalancing"),
    )
    assert found.trigger is Trigger.UNKNOWN


@pytest.mark.parametrize(
    ("reason", "trigger"),
    [
        ("rebalance enforced by user", Trigger.ENFORCED),
        ("asked for", Trigger.ENFORCED),
        (
            "cached metadata has changed from (version5: {a=1}) at the beginning of the rebalance",
            Trigger.NEW_PARTITIONS,
        ),
        ("subscription has changed from [a] at the beginning of the rebalance to [a, b]", Trigger.NEW_PARTITIONS),
        ("need to revoke partitions [a-0] as indicated by the current assignment and re-join", Trigger.SECOND_ROUND),
        ("rebalance failed due to DisconnectException", Trigger.UNKNOWN),
        ("", Trigger.UNKNOWN),
    ],
)
def test_a_member_that_joins_again_unasked_says_why(reason: str, trigger: Trigger) -> None:
    found = only(step(9, JOIN, "m1", 2, reason=reason), step(10, JOIN, "m2", 2))
    assert (found.trigger, found.reason or "") == (trigger, reason)


def test_a_member_that_joins_again_at_once_hands_out_what_was_given_up() -> None:
    assert only(step(2, JOIN, "m1", 2), step(3, JOIN, "m2", 2)).trigger is Trigger.SECOND_ROUND


def test_epochs_of_the_new_protocol_are_generations() -> None:
    steps = (
        step(0, NEW, "m1", 1),
        step(5, NEW, "m2", 0),
        step(5, NEW, "m2", 2, last=8),
        step(6, NEW, "m1", 2, last=20),
        step(9, NEW, "m2", -1),
        step(10, NEW, "m1", 3, last=20),
        step(20, NEW, "m1", 3, error_code=110),
        step(21, NEW, "m1", 4),
    )
    found = rebalances(steps)["g"]
    assert [each.trigger for each in found] == [Trigger.JOIN, Trigger.LEAVE, Trigger.SESSION_TIMEOUT]


def test_a_member_of_an_earlier_epoch_is_missed_once() -> None:
    steps = (
        step(0, NEW, "m1", 2, last=3),
        step(8, NEW, "m3", 3, last=8.2),
        step(9, NEW, "m1", 3, last=11),
        step(11.5, NEW, "m4", 4, last=12),
        step(11.7, NEW, "m1", 4, last=12),
        step(12.6, NEW, "m4", 5, last=16),
        step(12.7, NEW, "m1", 5, last=16),
        step(16.6, NEW, "m4", -1),
        step(16.7, NEW, "m1", 6, last=19),
    )
    found = rebalances(steps)["g"]
    assert [(each.trigger, each.step.member_id) for each in found] == [
        (Trigger.JOIN, "m3"),
        (Trigger.JOIN, "m4"),
        (Trigger.SESSION_TIMEOUT, "m3"),
        (Trigger.LEAVE, "m4"),
    ]


def test_groups_are_told_apart_and_one_generation_is_no_rebalance() -> None:
    assert rebalances(TWO) == {"g": ()}
    assert rebalances(()) == {}
