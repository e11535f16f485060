"""A broker repeatedly denies a client access.

Why: No access control list (ACL) allows what the client requests. Some clients stop at the first denial, others retry
forever and log little.

Bad:
    errors:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9094", client_id: orders, api_key: 1, error_code: 29,  # <- here
         topic: payments, times: 40, calls: 40, last: 30}

Good:
    errors:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9094", client_id: orders, api_key: 1, error_code: 29,
         topic: payments, times: 1, calls: 40, last: 0}

Seen: TopicAuthorizationException: Not authorized to access topics: [payments]; GROUP_AUTHORIZATION_FAILED

Sources: Kafka protocol guide, error codes 29, 30, 31, 53 and 65; KIP-11.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Severity
from netdiag.kafka.error_codes import error_name
from netdiag.rules.wire_findings import during, finding, request, times, who
from netdiag.traffic.facts import WireView

ID = "wire-access-denied"
SEVERITY = Severity.ERROR

# Topic, group, cluster, transactional id, delegation token.
CODES = frozenset({29, 30, 31, 53, 65})
_LEAST = 3


def check(view: WireView) -> Iterator[Finding]:
    """One finding for every client, broker, request and topic whose requests are mostly denied."""
    for each in view.errors:
        if each.error_code not in CODES or each.times < _LEAST or each.times * 2 < each.calls:
            continue
        named = f"topic {each.topic}" if each.topic else f"group {each.group}" if each.group else "the cluster"
        yield finding(
            ID,
            SEVERITY,
            each,
            f"{each.broker} denies {who(each)} {request(each.api_key)} on {named} {times(each.times)} in "
            f"{during(each.seconds)} ({error_name(each.error_code)})",
            why="no ACL allows it for this user",
            hint=f"add the missing ACL on {named} for the client's user (kafka-acls), or use another user",
        )
