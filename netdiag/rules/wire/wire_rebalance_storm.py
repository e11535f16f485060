"""A group rebalances repeatedly, because of one member or for one reason.

Why: While a group rebalances, its members stop (eager protocol) or partitions wait for a new owner. A group that is
scaled or deployed rebalances a few times, because of a different member each time. A group that rebalances repeatedly
because of the same member, or because members are considered dead, does little else.

Bad:
    group_steps:
      - {group: billing, api_key: 11, client: "10.0.0.7:4001", broker: "10.0.0.2:9092", client_id: b1, member_id: m1,
         generation: 1, time: 0}
      - {group: billing, api_key: 11, client: "10.0.0.8:4001", broker: "10.0.0.2:9092", client_id: b2, member_id: m2,
         generation: 1, time: 0}
      - {group: billing, api_key: 13, client: "10.0.0.8:4001", broker: "10.0.0.2:9092", client_id: b2,  # <- here
         member_id: m2, time: 20, reason: consumer poll timeout has expired.}
      - {group: billing, api_key: 11, client: "10.0.0.7:4001", client_id: b1, member_id: m1, generation: 2, time: 21}
      - {group: billing, api_key: 11, client: "10.0.0.8:4001", client_id: b2, member_id: m3, generation: 3, time: 25}
      - {group: billing, api_key: 11, client: "10.0.0.7:4001", client_id: b1, member_id: m1, generation: 3, time: 26}
      - {group: billing, api_key: 13, client: "10.0.0.8:4001", client_id: b2, member_id: m3, time: 46,
         reason: consumer poll timeout has expired.}
      - {group: billing, api_key: 11, client: "10.0.0.7:4001", client_id: b1, member_id: m1, generation: 4, time: 47}
      - {group: billing, api_key: 11, client: "10.0.0.8:4001", client_id: b2, member_id: m4, generation: 5, time: 52}
      - {group: billing, api_key: 11, client: "10.0.0.7:4001", client_id: b1, member_id: m1, generation: 5, time: 53}

Good:
    group_steps:
      - {group: billing, api_key: 11, client: "10.0.0.7:4001", client_id: b1, member_id: m1, generation: 1, time: 0}
      - {group: billing, api_key: 11, client: "10.0.0.8:4001", client_id: b2, member_id: m2, generation: 2, time: 5}
      - {group: billing, api_key: 11, client: "10.0.0.7:4001", client_id: b1, member_id: m1, generation: 2, time: 6}
      - {group: billing, api_key: 11, client: "10.0.0.9:4001", client_id: b3, member_id: m3, generation: 3, time: 9}
      - {group: billing, api_key: 11, client: "10.0.0.7:4001", client_id: b1, member_id: m1, generation: 3, time: 10}
      - {group: billing, api_key: 11, client: "10.0.0.8:4001", client_id: b2, member_id: m2, generation: 3, time: 10}

Seen: (Re-)joining group; consumer poll timeout has expired; Member ... in group billing has failed, removing it

Sources: KIP-62 (max.poll.interval.ms), KIP-800 (reasons of JoinGroup and LeaveGroup), KIP-848.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from netdiag.findings import Finding, Related, Severity
from netdiag.rules.wire_findings import during, finding, place, times, who
from netdiag.traffic.facts import SECOND, WireView
from netdiag.traffic.rebalances import Rebalance, Trigger, rebalances

ID = "wire-rebalance-storm"
SEVERITY = Severity.WARNING

# Two members deployed one after the other cause four rebalances, each by another member or two by one: a storm is
# four in ten minutes, of which one member caused three, or one kind of failure two.
_LEAST = 4
_WITHIN = 600 * SECOND
_LEAST_ALIKE = 3
_LEAST_FAILED = 2
_FAILURES = (Trigger.SESSION_TIMEOUT, Trigger.POLL_INTERVAL)
_WORDS = {
    Trigger.JOIN: "joins again",
    Trigger.LEAVE: "leaves",
    Trigger.SESSION_TIMEOUT: "sends no heartbeat within session.timeout.ms",
    Trigger.POLL_INTERVAL: "does not call poll() within max.poll.interval.ms",
    Trigger.ENFORCED: "enforces a rebalance",
    Trigger.NEW_PARTITIONS: "finds new partitions or topics",
    Trigger.UNKNOWN: "joins again for an unknown reason",
}
_HINTS = {
    Trigger.JOIN: "find out why {who} restarts or loses its connection; with group.instance.id it can return "
    "without a rebalance",
    Trigger.LEAVE: "find out why {who} stops repeatedly; with group.instance.id it can return without a rebalance",
    Trigger.SESSION_TIMEOUT: "look for long pauses (garbage collection, a frozen container, lost packets) of {who}, or "
    "raise session.timeout.ms",
    Trigger.POLL_INTERVAL: "make {who} process faster or fetch fewer records at once (max.poll.records), or raise "
    "max.poll.interval.ms",
    Trigger.ENFORCED: "find out why {who} calls enforceRebalance()",
    Trigger.NEW_PARTITIONS: "create topics and partitions in one step, or narrow the subscription of {who}",
    Trigger.UNKNOWN: "check the log of {who} to see why it joins again",
}


def check(view: WireView) -> Iterator[Finding]:
    """One finding for every group with a member that causes its rebalances."""
    for group, found in rebalances(view.group_steps).items():
        driven = [each for each in found if each.trigger is not Trigger.SECOND_ROUND]
        storm = _densest(driven)
        culprits = _culprits(storm)
        if len(storm) < _LEAST or not culprits:
            continue
        first = culprits[0]
        span = (storm[-1].time - storm[0].time) / SECOND
        yield finding(
            ID,
            SEVERITY,
            first.step,
            f'group "{group}" rebalances {times(len(storm))} in {during(span)}, {len(culprits)} of them because '
            f"{who(first.step)} {_WORDS[first.trigger]}",
            why="while a group rebalances, its partitions wait",
            hint=_HINTS[first.trigger].format(who=who(first.step)),
            related=[
                Related(
                    location=place(each.step),
                    message=f"generation {each.generation}: {each.trigger.value} of "
                    f"{each.step.member_id or who(each.step)}" + (f" ({each.reason})" if each.reason else ""),
                )
                for each in storm[:6]
            ],
        )


def _densest(found: Sequence[Rebalance]) -> Sequence[Rebalance]:
    """The rebalances of the ten minutes that have the most of them."""
    best: Sequence[Rebalance] = ()
    start = 0
    for end, last in enumerate(found):
        while last.time - found[start].time > _WITHIN:
            start += 1
        if end - start + 1 > len(best):
            best = found[start : end + 1]
    return best


def _culprits(storm: Sequence[Rebalance]) -> list[Rebalance]:
    """The rebalances that one member caused for one reason; failures first, because joins only follow them."""
    counts = Counter((each.member, each.trigger) for each in storm)
    ranked = sorted(counts.items(), key=lambda item: (item[0][1] not in _FAILURES, -item[1], item[0]))
    for (member, trigger), count in ranked:
        if count >= (_LEAST_FAILED if trigger in _FAILURES else _LEAST_ALIKE):
            return [each for each in storm if (each.member, each.trigger) == (member, trigger)]
    return []
