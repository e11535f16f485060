"""Members of a cluster cannot reach one another.

Why: Replication, the quorum and ZooKeeper use connections that no client uses. If one of them is cut, a cluster that
looks healthy from outside may lose replicas, its controller or its coordinators.

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

Sources: every endpoint that a broker gets from its peers and the quorum, tried from the broker's own network namespace.
"""

from collections.abc import Iterator

from netdiag.deployment.model.verdict import Answered, Failed
from netdiag.deployment.observation.live_view import LiveView
from netdiag.deployment.prediction.mesh import Edge, edge_outcome, is_cut
from netdiag.findings import ContainerLocation, Finding, Severity
from netdiag.rules.live_findings import listed

ID = "live-mesh-cut"
SEVERITY = Severity.ERROR


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every endpoint that members of the cluster cannot reach, with all that fail in the same way."""
    groups: dict[tuple[str, str, str, str], list[Edge]] = {}
    for edge in view.mesh.edges if view.mesh else ():
        # live-config-crash reports a broker that is not running.
        if is_cut(edge) and edge.observed and edge.target not in view.stopped and edge.source not in view.stopped:
            word = edge_outcome(edge, edge.observed)
            groups.setdefault((edge.kind.value, edge.target, str(edge.address), word), []).append(edge)
    for (kind, target, address, word), edges in groups.items():
        yield _finding(kind, target, address, word, edges)


def _finding(kind: str, target: str, address: str, word: str, edges: list[Edge]) -> Finding:
    sources = listed(edge.source for edge in edges)
    seen = edges[0].observed
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f'{sources} cannot reach {f"{target} at " if target else ""}"{address}" ({kind}): {word}',
        location=ContainerLocation(container=edges[0].source, part=address),
        why=seen.because if isinstance(seen, Failed | Answered) else "",
        hint="run `netdiag trace` to see where the path between them breaks, and repair it in both directions",
        service=edges[0].source,
    )
