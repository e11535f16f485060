"""Most of the data produced to a topic goes to one partition.

Why: A partition has one leader, and one consumer in a group. If most records have the same key (or no key, and the
partitioner does not spread them), the other partitions, brokers and consumers are idle.

Bad:
    skews:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: orders, topic: orders, partition: 3,  # <- here
         partitions: 6, batches: 900, records: 91000, bytes: 9100000, all_records: 95000, all_bytes: 9500000, last: 90}

Good:
    skews:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: orders, topic: orders, partition: 3,
         partitions: 6, batches: 300, records: 21000, bytes: 2100000, all_records: 95000, all_bytes: 9500000, last: 90}

Seen: the lag of one partition grows while the others have none

Sources: Kafka documentation: partitioner.class; KIP-480 and KIP-794 (sticky partitioning).
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Severity
from netdiag.rules.wire_findings import finding, size, who
from netdiag.traffic.facts import WireView

ID = "wire-hot-partition"
SEVERITY = Severity.WARNING

# Without keys, a producer stays with a partition for one batch: only many batches show where they go.
_LEAST_BATCHES = 100
_LEAST_BYTES = 1_000_000
_LEAST_PARTITIONS = 3
_SHARE = 0.7
_FAIR_SHARES = 2.5


def check(view: WireView) -> Iterator[Finding]:
    """One finding for every topic whose busiest partition gets most of the bytes and far more than its share."""
    for each in view.skews:
        if each.partitions < _LEAST_PARTITIONS or each.batches < _LEAST_BATCHES or each.all_bytes < _LEAST_BYTES:
            continue
        share = each.bytes / each.all_bytes
        if share < _SHARE or share * each.partitions < _FAIR_SHARES:
            continue
        yield finding(
            ID,
            SEVERITY,
            each,
            f'partition {each.partition} of topic "{each.topic}" gets {share:.0%} of the {size(each.all_bytes)} '
            f"produced "
            f"to its {each.partitions} partitions, mostly from {who(each)}",
            why="a partition has one leader, and one consumer in a group, so the others are idle",
            hint="use keys that spread over the partitions, or no keys; check whether the producer sets the partition "
            "itself",
        )
