"""A producer sends many batches with very few records.

Why: Every batch costs a header of 61 bytes, a write on every replica and a part of a request. With linger.ms=0 and few
records in flight, throughput stays far below what the network can carry, and the brokers are busy with requests.

Bad:
    produced_batches:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: clicks, topic: clicks, times: 6000,  # <- here
         records: 6300, bytes: 900000, last: 20}

Good:
    produced_batches:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: clicks, topic: clicks, times: 60,
         records: 6300, bytes: 500000, last: 20}
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: audit, topic: audit, times: 40,
         records: 40, bytes: 9000, last: 60}

Seen: batch-size-avg and records-per-request-avg of the producer close to one record

Sources: Kafka documentation: linger.ms, batch.size; KIP-1030 (linger.ms=5 since 4.0).
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Severity
from netdiag.rules.wire_findings import during, finding, several, size, who
from netdiag.traffic.facts import ProducedBatches, WireView

ID = "wire-tiny-batches"
SEVERITY = Severity.WARNING

# A few hundred batches a second with one or two small records: fewer do not matter.
_LEAST = 1000
_RATE = 50.0
_RECORDS = 2.0
_BYTES = 1024


def check(view: WireView) -> Iterator[Finding]:
    """One finding for every client that sends many small batches, the topic with the most first."""
    found: dict[tuple[str, str | None], list[ProducedBatches]] = {}
    for each in view.produced_batches:
        if _is_tiny(each):
            found.setdefault((each.client_host, each.client_id), []).append(each)
    for topics in found.values():
        topics.sort(key=lambda each: (-each.times, each.topic))
        first, batches = topics[0], sum(each.times for each in topics)
        records, average = sum(each.records for each in topics) / batches, sum(each.bytes for each in topics) / batches
        yield finding(
            ID,
            SEVERITY,
            first,
            f"{who(first)} produces {batches} batches in {during(max(each.seconds for each in topics))} to "
            f"{several(each.topic for each in topics)}, with {records:.1f} records and {size(average)} each",
            why="every batch costs a header, a part of a request and a write on every replica",
            hint="make the producer wait for more records (linger.ms=5 or more, the default batch.size), and do not "
            "wait for "
            "the response to each record",
        )


def _is_tiny(each: ProducedBatches) -> bool:
    """Whether there are many batches with very little in them."""
    if each.times < _LEAST or each.times < _RATE * max(each.seconds, 1.0) or not each.records:
        return False
    return each.records <= _RECORDS * each.times and each.bytes <= _BYTES * each.times
