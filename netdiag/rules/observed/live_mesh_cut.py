"""Members of a cluster do not reach each other.

Why: replication, the quorum and ZooKeeper have ways of their own, which no client takes. A cluster that looks whole
from outside may lose replicas, its controller or its coordinators behind such a cut.

Bad:
    services:
      kafka-1:
        image: confluentinc/cp-kafka:7.9.2
        environment: &one
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_BROKER_ID: 1
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-1:9092
      kafka-2:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          <<: *one
          KAFKA_BROKER_ID: 2
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-2:9092
    x-observed:
      mesh:
        - {kind: inter-broker, source: kafka-1, target: kafka-2, at: "kafka-2:9092", fails: timeout}  # <- here
        - {kind: inter-broker, source: kafka-2, target: kafka-1, at: "kafka-1:9092", answers: {node: 1}}

Good:
    services:
      kafka-1:
        image: confluentinc/cp-kafka:7.9.2
        environment: &one
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_BROKER_ID: 1
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-1:9092
      kafka-2:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          <<: *one
          KAFKA_BROKER_ID: 2
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-2:9092
    x-observed:
      mesh:
        - {kind: inter-broker, source: kafka-1, target: kafka-2, at: "kafka-2:9092", answers: {node: 2}}
        - {kind: inter-broker, source: kafka-2, target: kafka-1, at: "kafka-1:9092", answers: {node: 1}}

Seen: Connection to node 2 (kafka-2/172.18.0.3:9092) could not be established; ISR shrinks

Sources: every broker's own namespace, every endpoint that its peers and the quorum give it.
"""

from collections.abc import Iterator

from netdiag.deployment.live_view import LiveView
from netdiag.deployment.mesh import Edge
from netdiag.deployment.mesh_edges import is_cut, worth
from netdiag.deployment.observations import Answered, Failed
from netdiag.findings import ContainerLocation, Finding, Severity
from netdiag.rules.live_findings import listed

ID = "live-mesh-cut"
SEVERITY = Severity.ERROR


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every endpoint that members do not reach, with all of them that fail alike."""
    groups: dict[tuple[str, str, str, str], list[Edge]] = {}
    for edge in view.mesh.edges if view.mesh else ():
        # Whoever does not run is told of as such.
        if is_cut(edge) and edge.observed and edge.target not in view.stopped and edge.source not in view.stopped:
            word = worth(edge, edge.observed)
            groups.setdefault((edge.kind.value, edge.target, str(edge.address), word), []).append(edge)
    for (kind, target, address, word), edges in groups.items():
        yield _finding(kind, target, address, word, edges)


def _finding(kind: str, target: str, address: str, word: str, edges: list[Edge]) -> Finding:
    sources = listed(edge.source for edge in edges)
    seen = edges[0].observed
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"{sources} cannot reach {f'{target} at {address}' if target else address} ({kind}): {word}",
        location=ContainerLocation(container=edges[0].source, part=address),
        why=seen.because if isinstance(seen, Failed | Answered) else "",
        hint="see with `netdiag trace` where the way between the two ends, and mend it in both directions",
        service=edges[0].source,
    )
