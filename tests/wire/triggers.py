"""Rebalances as the broker logs them, against the rows of the aggregate: how many, why, and by which member."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tests.wire.traffic.facts import Facts, Rebalance

# What the broker gives as reason, first match; where it does not tell two triggers apart, nothing is held against us.
_REASONS: tuple[tuple[str, frozenset[str]], ...] = (
    (r"Adding new member (\S+)", frozenset({"join"})),
    (r"removing member (\S+) on heartbeat expiration", frozenset({"session-timeout"})),
    (r"Removing member (\S+) on LeaveGroup; client reason: consumer poll timeout", frozenset({"poll-interval"})),
    (r"Removing member (\S+) on LeaveGroup; client reason: not provided", frozenset({"leave", "poll-interval"})),
    (r"Removing member (\S+) on LeaveGroup", frozenset({"leave"})),
    (r"Leader (\S+) re-joining .*client reason: need to revoke", frozenset({"revocation"})),
    (r"Leader (\S+) re-joining .*client reason: cached metadata has changed", frozenset({"new-partitions"})),
    (r"Leader (\S+) re-joining .*client reason: asked for", frozenset({"enforced"})),
)


def expected(rebalance: Rebalance) -> tuple[str, frozenset[str]] | None:
    """The member and the triggers that the broker's line can mean; None where the line does not tell."""
    for pattern, triggers in _REASONS:
        if found := re.search(pattern, rebalance.reason):
            return found[1], triggers
    return None


def wrong_rebalances(facts: Facts, rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], int]:
    """Disagreements, and how many triggers were compared; `rows` of the aggregate rebalances."""
    ours = {(row["group"], row["generation"]): row for row in rows if row["protocol"] not in ("consumer", "share")}
    logged = {(one.group, one.number) for one in facts.generations if one.is_classic}
    wrong = [f"{group}: generation {number} is not ours" for group, number in sorted(logged - set(ours))]
    wrong += [f"{group}: generation {number} is ours alone" for group, number in sorted(set(ours) - logged)]
    compared = 0
    for one in facts.rebalances:
        row = ours.get((one.group, one.generation + 1))
        told = expected(one)
        if row is None or told is None:
            continue
        compared += 1
        member, triggers = told
        if row["trigger"] not in triggers or row["trigger_member"] != member:
            wrong.append(
                f"{one.group} generation {one.generation + 1}: {row['trigger']} by {row['trigger_member']}; "
                f"broker: {one.reason[:150]}"
            )
    return wrong, compared


def wrong_lags(facts: Facts, rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Lag in records, as kafka-consumer-groups describes it; `rows` of the aggregate lag."""
    ours = {(row["group"], row["topic"], row["partition"]): row["lag_records"] for row in rows}
    return [
        f"{told.group} {told.topic}-{told.partition}: lag {ours.get((told.group, told.topic, told.partition))}, "
        f"described {told.lag}"
        for told in facts.positions
        if ours.get((told.group, told.topic, told.partition)) != told.lag
    ]
