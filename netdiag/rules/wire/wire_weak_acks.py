"""A producer does not wait for the replicas of a replicated topic.

Why: With acks=1, a record is lost if the leader fails before a follower has fetched it; with acks=0, the producer does
not even learn that a record was not written. Replicas protect only producers that wait for them.

Bad:
    acks:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: orders, topic: orders, acks: 1,  # <- here
         times: 500, replicas: 3, last: 30}

Good:
    acks:
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: orders, topic: orders, acks: -1,
         times: 500, replicas: 3, last: 30}
      - {client: "10.0.0.9:40312", broker: "10.0.0.2:9092", client_id: dev, topic: dev, acks: 1,
         times: 500, replicas: 1, last: 30}

Seen: acks = 1 in the ProducerConfig values of the log

Sources: Kafka documentation: acks, min.insync.replicas; KIP-679 (acks=all by default since 3.0).
"""

from collections.abc import Iterator

from netdiag.findings import Finding, Severity
from netdiag.rules.wire_findings import finding, several, times, who
from netdiag.traffic.facts import Acks, WireView

ID = "wire-weak-acks"
SEVERITY = Severity.WARNING

# Fewer requests may be an experiment.
_LEAST = 10


def check(view: WireView) -> Iterator[Finding]:
    """One finding for every client that produces with acks=0 or acks=1 to replicated topics, the busiest first."""
    found: dict[tuple[str, str | None, int], list[Acks]] = {}
    for each in view.acks:
        if each.acks in (0, 1) and (each.replicas or 1) > 1 and each.times >= _LEAST:
            found.setdefault((each.client_host, each.client_id, each.acks), []).append(each)
    for topics in found.values():
        topics.sort(key=lambda each: (-each.times, each.topic))
        first = topics[0]
        yield finding(
            ID,
            SEVERITY if first.acks == 0 else Severity.NOTE,
            first,
            f"{who(first)} produces {times(sum(each.times for each in topics))} with acks={first.acks} to "
            f"{several(each.topic for each in topics)} ({first.replicas} replicas)",
            why="records that no follower has fetched are lost with the leader"
            + ("; with acks=0 the producer does not learn that a record was refused" if first.acks == 0 else ""),
            hint="set acks=all, unless you can lose records",
        )
