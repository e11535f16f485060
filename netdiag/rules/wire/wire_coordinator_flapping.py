"""The coordinator of a group moves back and forth between brokers.

Why: After every move, members join again and the new coordinator loads the offsets. The coordinator is the leader of a
partition of __consumer_offsets (__transaction_state for transactions); if it moves repeatedly, brokers come and go.

Bad:
    moves:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: billing, kind: coordinator,  # <- here
         key: billing, times: 5, nodes: [1, 2], returns: 4, last: 120}

Good:
    moves:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: billing, kind: coordinator,
         key: billing, times: 1, nodes: [1, 2], last: 120}

Seen: Group coordinator ... is unavailable or invalid due to cause: NOT_COORDINATOR; Discovered group coordinator

Sources: Kafka protocol guide, FindCoordinator; KIP-98.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Severity
from netdiag.rules.wire_findings import during, finding, times, who
from netdiag.traffic.facts import WireView

ID = "wire-coordinator-flapping"
SEVERITY = Severity.WARNING

# A restart of its broker moves the coordinator away and back, a rolling restart of three brokers once more.
_LEAST = 4
_LEAST_RETURNS = 2


def check(view: WireView) -> Iterator[Finding]:
    """One finding for every client and group (or transactional ID) whose coordinator keeps moving."""
    for each in view.moves:
        if each.kind != "coordinator" or each.times < _LEAST or each.returns < _LEAST_RETURNS:
            continue
        nodes = ", ".join(map(str, each.nodes))
        yield finding(
            ID,
            SEVERITY,
            each,
            f'the coordinator of "{each.key}" moves {times(each.times)} in {during(each.seconds)} between brokers '
            f"{nodes}, as {who(each)} sees it",
            why="after every move, members join again and the new coordinator loads the offsets",
            hint=f"find out why brokers {nodes} lose leadership: restarts, lost sessions, an overloaded disk",
        )
