"""A client gets the same error for most of its requests and keeps retrying.

Why: A temporary error is worth a retry, but an error that lasts half a minute has a cause that retries do not remove:
too few brokers for min.insync.replicas or for the internal topics, or a coordinator that never finishes loading.

Bad:
    errors:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: billing, api_key: 10, error_code: 15,  # <- here
         group: billing, times: 200, calls: 200, last: 30}

Good:
    errors:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: billing, api_key: 10, error_code: 15,
         group: billing, times: 12, calls: 13, last: 2}
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: billing, api_key: 12, error_code: 27,
         group: billing, times: 90, calls: 100, last: 30}

Seen: COORDINATOR_NOT_AVAILABLE; NOT_ENOUGH_REPLICAS; Expiring 1 record(s) for orders-0: 120000 ms has passed

Sources: Kafka protocol guide, error codes.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Severity
from netdiag.kafka.error_codes import error_code
from netdiag.rules.wire import (
    wire_access_denied,
    wire_authentication_failing,
    wire_stale_leader_loop,
    wire_unknown_topic_loop,
)
from netdiag.rules.wire_findings import during, finding, request, who
from netdiag.traffic.facts import WireView

ID = "wire-error-loop"
SEVERITY = Severity.ERROR

_LEAST = 20
_SECONDS = 10.0
# Other rules report these.
_ELSEWHERE = frozenset(
    (
        *wire_access_denied.CODES,
        *wire_authentication_failing.CODES,
        *wire_stale_leader_loop.CODES,
        *wire_unknown_topic_loop.CODES,
        10,
        18,
    )
)
# Normal errors: unsupported versions at first, rebalances, member IDs, fetch sessions.
_USUAL = frozenset({27, 35, 70, 71, 79})
_NOT_ENOUGH_REPLICAS, _AFTER_APPEND = 19, 20
_LEADER_NOT_AVAILABLE, _COORDINATOR_NOT_AVAILABLE, _COORDINATOR_LOADING = 5, 15, 14
_HINTS = {
    _LEADER_NOT_AVAILABLE: "find out which brokers have replicas of the partition, and whether they are running",
    _NOT_ENOUGH_REPLICAS: "bring replicas back in sync, or lower min.insync.replicas of the topic",
    _AFTER_APPEND: "bring replicas back in sync, or lower min.insync.replicas of the topic",
    _COORDINATOR_NOT_AVAILABLE: "start as many brokers as offsets.topic.replication.factor (and "
    "transaction.state.log.replication.factor) require, or set these to the number of brokers",
    _COORDINATOR_LOADING: "check in the coordinator's log why loading does not finish",
}


def check(view: WireView) -> Iterator[Finding]:
    """One finding for every client, broker, request and error code that most of the responses have."""
    for each in view.errors:
        if each.error_code in _ELSEWHERE or each.error_code in _USUAL or each.times < _LEAST:
            continue
        if each.seconds < _SECONDS or each.times * 2 < each.calls:
            continue
        error = error_code(each.error_code)
        of = f" for topic {each.topic}" if each.topic else f" of group {each.group}" if each.group else ""
        yield finding(
            ID,
            SEVERITY if error.retriable else Severity.WARNING,
            each,
            f"{who(each)} gets {error.name} from {each.broker} for {each.times} of {each.calls} "
            f"{request(each.api_key)} requests{of} in {during(each.seconds)}",
            why=error.meaning,
            hint=_HINTS.get(each.error_code, f"find the cause of {error.name} in the log of {each.broker}"),
        )
