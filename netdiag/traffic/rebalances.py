"""Rebalances of groups from their steps on the wire: when, and because of whom.

The coordinator does not say why it rebalances. What came first between two generations does: a member that leaves
(LeaveGroup, with a reason since KIP-800), one that is new, one that is missing in the next generation although it never
left, or one that joins again of its own accord. Of the protocol of KIP-848 member epochs are read in the same way.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from netdiag.traffic.facts import GroupStep

_JOIN, _HEARTBEAT, _LEAVE, _NEW_HEARTBEAT = 11, 12, 13, 68
_UNKNOWN_MEMBER_ID, _FENCED_MEMBER_EPOCH = 25, 110
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
    generations = sorted(joined, key=lambda epoch: joined[epoch][0].time)
    for before, now in pairwise(generations):
        between = [s for s in steps if joined[before][0].time < s.time <= joined[now][-1].time]
        trigger, step = _trigger(joined[before], joined[now], between, steps)
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


def _trigger(
    before: Sequence[GroupStep], now: Sequence[GroupStep], between: Sequence[GroupStep], steps: Sequence[GroupStep]
) -> tuple[Trigger, GroupStep]:
    """The earliest of what may have begun it."""
    old = {step.member_id for step in before}
    first = now[0]
    left = [s for s in between if _leaves(s) and s.time <= now[-1].time]
    if left and left[0].time <= first.time:
        return _of_leaving(left[0], steps), left[0]
    thrown_out = [s for s in between if s.error_code in (_UNKNOWN_MEMBER_ID, _FENCED_MEMBER_EPOCH)]
    if thrown_out:
        return Trigger.SESSION_TIMEOUT, thrown_out[0]
    stays = {step.member_id for step in now}
    strangers = [step for step in now if step.member_id not in old]
    missing = [step for step in before if step.member_id not in stays]
    if strangers and (strangers[0] is first or not missing):
        return Trigger.JOIN, strangers[0]
    if missing:
        return _of_missing(missing[0], first, steps), missing[0]
    return _of_reason(first.reason or ""), first


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


def _of_missing(member: GroupStep, joined: GroupStep, steps: Sequence[GroupStep]) -> Trigger:
    """Gone without a word: its heartbeats ended, or they did not and it never joined again in time."""
    beats = [s.last for s in steps if s.api_key in (_HEARTBEAT, _NEW_HEARTBEAT) and s.member_id == member.member_id]
    alive = any(last > joined.time for last in beats)
    return Trigger.POLL_INTERVAL if alive else Trigger.SESSION_TIMEOUT


def _of_reason(reason: str) -> Trigger:
    """A member that joined again unasked, in the words of the Java client (KIP-800)."""
    words = reason.lower()
    if "enforce" in words:
        return Trigger.ENFORCED
    if "metadata has changed" in words or "subscription has changed" in words:
        return Trigger.NEW_PARTITIONS
    if "revoke" in words:
        return Trigger.SECOND_ROUND
    return Trigger.UNKNOWN
