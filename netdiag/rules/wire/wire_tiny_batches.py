"""A producer sends many batches with hardly a record in each.

Why: every batch costs a header of 61 bytes, a write on every replica and a part of a request. With linger.ms=0 and few
records in flight throughput ends far below what the network carries, and brokers are busy with requests.

Bad:
    producing:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: clicks, topic: clicks, times: 6000,  # <- here
         records: 6300, bytes: 900000, last: 20}

Good:
    producing:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: clicks, topic: clicks, times: 60,
         records: 6300, bytes: 500000, last: 20}
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: audit, topic: audit, times: 40,
         records: 40, bytes: 9000, last: 60}

Seen: batch-size-avg and records-per-request-avg of the producer close to one record

Sources: Kafka documentation: linger.ms, batch.size; KIP-1030 (linger.ms=5 since 4.0).
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Severity
from netdiag.rules.wire_words import during, finding, size, who
from netdiag.traffic.facts import WireView

ID = "wire-tiny-batches"
SEVERITY = Severity.WARNING

# A few hundred batches a second of one or two small records: below that nobody notices.
_LEAST = 1000
_RATE = 50.0
_RECORDS = 2.0
_BYTES = 1024


def check(view: WireView) -> Iterator[Finding]:
    """One finding for every client and topic with many small batches."""
    for each in view.producing:
        rate = each.times / max(each.seconds, 1.0)
        if each.times < _LEAST or rate < _RATE or not each.records:
            continue
        records, average = each.records / each.times, each.bytes / each.times
        if records > _RECORDS or average > _BYTES:
            continue
        yield finding(
            ID,
            SEVERITY,
            each,
            f"{who(each)} produces {each.times} batches in {during(each.seconds)} to topic {each.topic}, with "
            f"{records:.1f} records and {size(average)} in each",
            why="every batch costs a header, a part of a request and a write on every replica",
            hint="let the producer wait for more: linger.ms=5 or more, batch.size as it is; send without waiting for "
            "each record",
        )
