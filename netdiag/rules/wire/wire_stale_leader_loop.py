"""A client keeps sending requests to a broker that is not the leader.

Why: NOT_LEADER_OR_FOLLOWER makes a client fetch the current leaders, which normally solves it at once. A client that
gets the error repeatedly has a leader address that leads to another broker, or asks a broker that gets no updates from
the controller.

Bad:
    errors:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: orders, api_key: 0, error_code: 6,  # <- here
         topic: orders, partition: 0, partitions: 1, times: 60, calls: 62, last: 40}

Good:
    errors:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: orders, api_key: 0, error_code: 6,
         topic: orders, partition: 0, partitions: 1, times: 3, calls: 900, last: 1}

Seen: Got error produce response with correlation id ... NOT_LEADER_OR_FOLLOWER; Received unknown leader epoch

Sources: Kafka protocol guide, error codes 6, 74 to 76; KIP-320.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Severity
from netdiag.kafka.error_codes import error_name
from netdiag.rules.wire_findings import during, finding, request, who
from netdiag.traffic.facts import WireView

ID = "wire-stale-leader-loop"
SEVERITY = Severity.ERROR

NOT_LEADER, FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH = 6, 74, 75
CODES = frozenset({NOT_LEADER, FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH})
# An election takes a second or two, in which a client may retry a dozen times.
_LEAST = 10
_SECONDS = 10.0


def check(view: WireView) -> Iterator[Finding]:
    """One finding for every client, broker and topic that is refused for longer than an election takes."""
    for each in view.errors:
        if each.error_code not in CODES or each.times < _LEAST or each.seconds < _SECONDS:
            continue
        # If most requests succeed, leaders move, which wire-leader-flapping reports.
        if each.times * 2 < each.calls:
            continue
        yield finding(
            ID,
            SEVERITY,
            each,
            f'{who(each)} gets {error_name(each.error_code)} from {each.broker} for topic "{each.topic}" in '
            f"{each.times} of {each.calls} {request(each.api_key)} requests in {during(each.seconds)}",
            why="the leader's address leads to another broker, or the brokers do not agree on the leader",
            hint=f"compare the node ID of the broker that answers at {each.broker} with the one advertised there, and "
            f"check "
            "whether that broker reaches the controller",
        )
