"""A client keeps requesting a topic that does not exist.

Why: The name is misspelled, the cluster is the wrong one, or no one has created the topic and auto.create.topics.enable
is false. The client retries until its own timeout, and its error does not name the cause.

Bad:
    errors:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: orders, api_key: 3, error_code: 3,  # <- here
         topic: ordres, times: 50, calls: 50, last: 30}

Good:
    errors:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: orders, api_key: 3, error_code: 3,
         topic: orders, times: 2, calls: 3, last: 1}

Seen: UNKNOWN_TOPIC_OR_PARTITION; Topic ordres not present in metadata after 60000 ms.

Sources: Kafka protocol guide, error codes 3 and 100.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Severity
from netdiag.kafka.error_codes import error_name
from netdiag.rules.wire_findings import during, finding, request, times, who
from netdiag.traffic.facts import WireView

ID = "wire-unknown-topic-loop"
SEVERITY = Severity.ERROR

UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID = 3, 100
CODES = frozenset({UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID})
# A topic that is created on first use is unknown for a moment.
_LEAST = 10
_SECONDS = 5.0


def check(view: WireView) -> Iterator[Finding]:
    """One finding for every client, broker and topic that stays unknown."""
    for each in view.errors:
        if each.error_code not in CODES or each.times < _LEAST or each.seconds < _SECONDS:
            continue
        if each.times * 2 < each.calls:
            continue
        yield finding(
            ID,
            SEVERITY,
            each,
            f'{who(each)} requests topic "{each.topic}" from {each.broker} {times(each.times)} in '
            f"{during(each.seconds)} "
            f"({request(each.api_key)}) and gets {error_name(each.error_code)}",
            why="the topic does not exist in this cluster, or the client has no access to it",
            hint=f"create topic {each.topic}, or correct its name or the client's bootstrap servers",
        )
