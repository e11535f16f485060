"""A member belongs to another cluster than the one that is registered.

Why: A data directory remembers its cluster. A volume from an earlier cluster, or a ZooKeeper that was emptied, does not
fit: the broker ends when it starts, or is already part of another cluster.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_BROKER_ID: 1
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
    x-observed:
      registered:
        zookeeper: {cluster: D3u-YjCPSHefPgUPtJNIFg}
        nodes:
          kafka: {stored: {cluster: 5L6g3nShT-eMCtK--X86sw, node: 1}}  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_BROKER_ID: 1
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
    x-observed:
      registered:
        zookeeper: {cluster: D3u-YjCPSHefPgUPtJNIFg}
        nodes:
          kafka: {stored: {cluster: D3u-YjCPSHefPgUPtJNIFg, node: 1}}

Seen: "Invalid cluster.id in: /var/lib/kafka/data/meta.properties. Expected D3u-YjCPSHefPgUPtJNIFg, but read
5L6g3nShT-eMCtK--X86sw"

Sources: `MetaPropertiesEnsemble.verify` of Kafka 3.9; `/cluster/id` in ZooKeeper, Metadata, and `meta.properties`.
"""

from collections.abc import Iterator

from netdiag.deployment.observation.live_view import LiveView
from netdiag.deployment.observation.registered import SeenNode
from netdiag.findings import ContainerLocation, Finding, Severity

ID = "live-cluster-id-differs"
SEVERITY = Severity.ERROR


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every member whose cluster is not the registered one: by its answer, or else by its disk."""
    found = view.registered
    if found is None or found.cluster_id is None:
        return
    for node in found.nodes:
        other, words = _cluster_of(node)
        if other is None or other == found.cluster_id:
            continue
        source = next((one.source for one in found.registries if one.cluster_id == found.cluster_id), found.name)
        yield Finding(
            rule=ID,
            severity=SEVERITY,
            message=f"{words} cluster {other}, but {found.cluster_id} is registered",
            location=ContainerLocation(container=node.member, part="cluster.id"),
            why=f"the brokers were not started as one cluster ({source})",
            hint=f"use the volume of this cluster for {node.member}, or remove the one it has if its data may go",
            service=node.member,
            broker_prints=None if node.now is not None else "Invalid cluster.id in",
        )


def _cluster_of(node: SeenNode) -> tuple[str | None, str]:
    if node.now is not None and node.now.cluster_id is not None:
        return node.now.cluster_id, f"{node.member} answers for"
    if node.stored is not None and node.stored.cluster_id is not None:
        return node.stored.cluster_id, f"the data directory of {node.member} is of"
    return None, ""
