"""Rebalances of groups from their steps on the wire: when, and because of whom.

The coordinator does not say why it rebalances. What came first between two generations does: a member that leaves
(LeaveGroup, with a reason since KIP-800), one that is new, one that is missing in the next generation and not heard of
again although it never left, or one that joins again without having been told to. Of the protocol of KIP-848 member
epochs are read in the same way.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import pairwise

from netdiag.traffic.facts import SECOND, GroupStep
from netdiag.values import dataclass

_JOIN, _HEARTBEAT, _LEAVE, _NEW_HEARTBEAT = 11, 12, 13, 68
_REBALANCE_IN_PROGRESS = 27
# UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH
_THROWN_OUT = (25, 110)
_AT_ONCE = 5 * SECOND
# Reasons of the Java client that follow from something else.
_OWN_WORDS = ("group is already", "need to re-join", "encountered", "rebalance failed")
_LEAVING_EPOCHS = (-1, -2)


class Trigger(StrEnum):
    """What began a rebalance."""

    JOIN = "join"
    LEAVE = "leave"
    SESSION_TIMEOUT = "session timeout"
    POLL_INTERVAL = "poll interval"
    ENFORCED = "enforced"
    NEW_PARTITIONS = "new partitions"
    SECOND_ROUND = "second round"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebalance:
    """One rebalance of a group: the generation that it led to, and the step of the member that began it."""

    group: str
    generation: int
    time: int
    trigger: Trigger
    step: GroupStep
    reason: str | None = None

    @property
    def member(self) -> tuple[str, str]:
        """Who began it, as somebody who restarts is the same: its address, and its instance id or client.id."""
        return (self.step.client_host, self.step.instance_id or self.step.client_id or "")


def rebalances(steps: Iterable[GroupStep]) -> dict[str, tuple[Rebalance, ...]]:
    """The rebalances of every group in the order of time; what led to its first generation is not told."""
    by_group: dict[str, list[GroupStep]] = {}
    for step in steps:
        by_group.setdefault(step.group, []).append(step)
    return {group: _of(group, sorted(found, key=lambda step: step.time)) for group, found in by_group.items()}


def _of(group: str, steps: Sequence[GroupStep]) -> tuple[Rebalance, ...]:
    joined: dict[int, list[GroupStep]] = {}
    for step in steps:
        epoch = step.generation
        if step.api_key in (_JOIN, _NEW_HEARTBEAT) and not step.error_code and epoch is not None and epoch > 0:
            joined.setdefault(epoch, []).append(step)
    found = []
    blamed: set[str | None] = set()
    generations = sorted(joined, key=lambda epoch: joined[epoch][0].time)
    for before, now in pairwise(generations):
        # What came while the members of the generation before were waited for was part of that rebalance.
        complete = max(max(s.time, s.answered) for s in joined[before] if s.api_key == _JOIN or s is joined[before][0])
        between = [s for s in steps if complete < s.time <= joined[now][-1].time]
        members = joined[before]
        if joined[now][0].api_key == _NEW_HEARTBEAT:
            # Not every member is heard of in every epoch: those of earlier ones count until they leave.
            members = [*members, *_quiet(joined, before, steps, blamed)]
        trigger, step = _trigger(members, joined[now], between, steps)
        if trigger is Trigger.SESSION_TIMEOUT:
            blamed.add(step.member_id)
        found.append(
            Rebalance(
                group=group,
                generation=now,
                time=joined[now][0].time,
                trigger=trigger,
                step=step,
                reason=step.reason,
            )
        )
    return tuple(found)


def _quiet(
    joined: dict[int, list[GroupStep]], generation: int, steps: Sequence[GroupStep], blamed: set[str | None]
) -> list[GroupStep]:
    """Members of earlier epochs that neither left nor began a rebalance by being gone."""
    gone = {step.member_id for step in steps if _leaves(step)} | blamed
    return [step for epoch, held in joined.items() if epoch < generation for step in held if step.member_id not in gone]


def _trigger(
    before: Sequence[GroupStep], now: Sequence[GroupStep], between: Sequence[GroupStep], steps: Sequence[GroupStep]
) -> tuple[Trigger, GroupStep]:
    """What came first."""
    old = {step.member_id for step in before}
    first = now[0]
    left = [step for step in between if _leaves(step)]
    if left and left[0].time <= first.time:
        return _of_leaving(left[0], steps), left[0]
    if first.api_key == _JOIN and first.member_id in old and not _is_told(first, before[0].generation, between):
        return _of_reason(first, before), first
    # Who learns only now that an earlier generation went on without it began nothing.
    thrown_out = [step for step in between if step.error_code in _THROWN_OUT and step.member_id in old]
    if thrown_out:
        return Trigger.SESSION_TIMEOUT, thrown_out[0]
    strangers = [step for step in now if step.member_id not in old]
    if first in strangers:
        return Trigger.JOIN, first
    stays = {step.member_id for step in now}
    missing = [step for step in before if step.member_id not in stays and not _lives_on(step, first, steps)]
    if missing:
        return Trigger.SESSION_TIMEOUT, missing[0]
    return (Trigger.JOIN, strangers[0]) if strangers else (Trigger.UNKNOWN, first)


def _leaves(step: GroupStep) -> bool:
    if step.api_key == _NEW_HEARTBEAT:
        return step.generation in _LEAVING_EPOCHS
    return step.api_key == _LEAVE and not step.error_code


def _of_leaving(step: GroupStep, steps: Sequence[GroupStep]) -> Trigger:
    """Leaving on time; or because poll() was not called, which the same connection survives to join again."""
    if step.reason:
        return Trigger.POLL_INTERVAL if "poll timeout" in step.reason.lower() else Trigger.LEAVE
    again = (s for s in steps if s.time > step.time and s.api_key == _JOIN and s.client == step.client)
    return Trigger.POLL_INTERVAL if next(again, None) is not None else Trigger.LEAVE


def _is_told(member: GroupStep, generation: int | None, between: Sequence[GroupStep]) -> bool:
    """Whether a heartbeat told a member of a generation that others had begun a rebalance, before it joined again."""
    return any(
        step.api_key == _HEARTBEAT
        and step.error_code == _REBALANCE_IN_PROGRESS
        and (step.member_id, step.generation) == (member.member_id, generation)
        and step.time <= member.time
        for step in between
    )


def _lives_on(member: GroupStep, joined: GroupStep, steps: Sequence[GroupStep]) -> bool:
    """Whether a member is heard of again, other than that it is unknown by now."""
    return any(
        step.member_id == member.member_id and step.last > joined.time and step.error_code not in _THROWN_OUT
        for step in steps
    )


def _of_reason(step: GroupStep, before: Sequence[GroupStep]) -> Trigger:
    """A member that joined again unasked, in the words of the Java client (KIP-800); others give no reason."""
    words = (step.reason or "").lower()
    if "metadata has changed" in words or "subscription has changed" in words:
        return Trigger.NEW_PARTITIONS
    if "revoke" in words:
        return Trigger.SECOND_ROUND
    if words and not words.startswith(_OWN_WORDS):
        # What an application says to enforceRebalance, or what the client says for it.
        return Trigger.ENFORCED
    # With cooperative assignors partitions that were given up are handed out in a second round at once.
    at_once = step.time - max(other.last for other in before) <= _AT_ONCE
    return Trigger.SECOND_ROUND if at_once else Trigger.UNKNOWN
