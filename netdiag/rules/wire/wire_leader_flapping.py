"""The leader of a partition moves from broker to broker and back.

Why: with every move clients are refused until they have asked for the new leader, and producers may see records twice
or lose those with acks=1. Leaders stay where they are while brokers are up and reach the controller.

Bad:
    moves:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: orders, kind: leader, key: orders-0,  # <- here
         times: 7, nodes: [1, 2], returns: 6, last: 120}

Good:
    moves:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: orders, kind: leader, key: orders-0,
         times: 2, nodes: [1, 2], returns: 1, last: 120}

Seen: NOT_LEADER_OR_FOLLOWER; Got error produce response ... retrying

Sources: KIP-320 (leader epochs).
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Related, Severity
from netdiag.rules.wire_findings import during, finding, place, several, times
from netdiag.traffic.facts import Moves, WireView

ID = "wire-leader-flapping"
SEVERITY = Severity.WARNING

# A rolling restart of a cluster moves a leader away and back, once for each replica that is preferred before.
_LEAST = 5
_LEAST_RETURNS = 3


def check(view: WireView) -> Iterator[Finding]:
    """One finding for every set of brokers between which leaders do not stay."""
    found: dict[tuple[int, ...], list[Moves]] = {}
    for each in view.moves:
        if each.kind == "leader" and each.times >= _LEAST and each.returns >= _LEAST_RETURNS:
            found.setdefault(tuple(sorted(each.nodes)), []).append(each)
    for nodes, moved in found.items():
        worst = max(moved, key=lambda each: each.times)
        listed = ", ".join(map(str, nodes))
        yield finding(
            ID,
            SEVERITY,
            worst,
            f"the leader of {several(each.key for each in moved)} moves {times(worst.times)} in "
            f"{during(worst.seconds)} between brokers {listed}",
            why="with every move clients are refused until they know the new leader",
            hint=f"look why brokers {listed} lose their leadership: restarts, lost sessions, an overloaded disk",
            related=[
                Related(location=place(each), message=f"{each.key}: {times(each.times)}")
                for each in moved[:6]
                if each is not worst
            ],
        )
