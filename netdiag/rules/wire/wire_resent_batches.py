"""A producer sends the same batches repeatedly.

Why: An idempotent producer numbers its batches, so a repeated batch is recognizable. A few are normal when leaders
move. Many, or one batch many times, mean that responses are late or are errors: the broker is overloaded, replicas fall
behind, or request.timeout.ms is too short.

Bad:
    produced_batches:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: orders, topic: orders, times: 90,  # <- here
         records: 900, bytes: 90000, resent: 40, most_resent: 12, last: 60}

Good:
    produced_batches:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: orders, topic: orders, times: 900,
         records: 900, bytes: 90000, resent: 2, most_resent: 2, last: 60}

Seen: Got error produce response ... retrying (2147483640 attempts left); DUPLICATE_SEQUENCE_NUMBER

Sources: KIP-98 (producer id, epoch and sequence); Kafka documentation: delivery.timeout.ms.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Severity
from netdiag.rules.wire_findings import during, finding, times, who
from netdiag.traffic.facts import WireView

ID = "wire-resent-batches"
SEVERITY = Severity.WARNING

_LEAST_OF_ONE = 5
_LEAST = 20
_SHARE = 0.2


def check(view: WireView) -> Iterator[Finding]:
    """One finding for every client and topic with dozens of repeated batches."""
    for each in view.produced_batches:
        many = each.resent >= _LEAST and each.resent >= _SHARE * each.times
        if not many and each.most_resent < _LEAST_OF_ONE:
            continue
        yield finding(
            ID,
            SEVERITY,
            each,
            f'{who(each)} sends {each.resent} of {each.times} batches to topic "{each.topic}" again, one of them '
            f"{times(each.most_resent)}, in {during(each.seconds)}",
            why="responses are late or are errors, and the producer retries until delivery.timeout.ms",
            hint=f"check how late, or with which errors, {each.broker} answers Produce requests, and whether the "
            f"replicas of "
            f"{each.topic} are in sync",
        )
