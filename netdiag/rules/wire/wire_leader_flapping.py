"""The leader of a partition moves back and forth between brokers.

Why: After every move, brokers refuse clients until these have fetched the new leader, and producers may duplicate
records or, with acks=1, lose them. Leaders do not move while brokers are up and reach the controller.

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

# A rolling restart moves a leader away and back, once for each more preferred replica.
_LEAST = 5
_LEAST_RETURNS = 3


def check(view: WireView) -> Iterator[Finding]:
    """One finding for every set of brokers between which leaders keep moving."""
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
            why="after every move, brokers refuse clients until these know the new leader",
            hint=f"find out why brokers {listed} lose leadership: restarts, lost sessions, an overloaded disk",
            related=[
                Related(location=place(each), message=f"{each.key}: {times(each.times)}")
                for each in moved[:6]
                if each is not worst
            ],
        )
