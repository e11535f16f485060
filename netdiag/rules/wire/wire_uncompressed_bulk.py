"""A producer sends bulk data without compression.

Why: Batches of many similar records compress to a half or a fifth of their size. Without compression, the network, the
disks and every replica carry all of it. Records that are already compressed (images, archives) gain nothing.

Bad:
    produced_batches:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: logs, topic: logs, times: 800,  # <- here
         records: 90000, bytes: 40000000, plain: 800, plain_bytes: 40000000, plain_records: 90000, last: 20}

Good:
    produced_batches:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: logs, topic: logs, times: 800,
         records: 90000, bytes: 8000000, last: 20}

Seen: compression-rate-avg of the producer is 1.0

Sources: Kafka documentation: compression.type.
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Severity
from netdiag.rules.wire_findings import during, finding, size, who
from netdiag.traffic.facts import WireView

ID = "wire-uncompressed-bulk"
SEVERITY = Severity.NOTE

_BULK = 10_000_000
# Compression uses what the records of a batch have in common.
_RECORDS = 10
# Batches in bulk data are at least this large.
_MEAN_BYTES = 4096


def check(view: WireView) -> Iterator[Finding]:
    """One finding for every client and topic with uncompressed bulk data."""
    for each in view.produced_batches:
        if each.plain_bytes < _BULK or not each.plain:
            continue
        if each.plain_records < _RECORDS * each.plain or each.plain_bytes < _MEAN_BYTES * each.plain:
            continue
        yield finding(
            ID,
            SEVERITY,
            each,
            f'{who(each)} produces {size(each.plain_bytes)} in {during(each.seconds)} to topic "{each.topic}" without '
            f"compression ({each.plain_records // each.plain} records per batch)",
            why="the network, the disks and every replica carry what compression would save",
            hint="set compression.type=lz4 or zstd in the producer, unless its records are already compressed",
        )
