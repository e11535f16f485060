"""Two nodes of one cluster have the same node ID.

Why: A cluster identifies its nodes by ID. The cluster rejects the second node to register, or the two nodes take turns.

Bad:
    services:
      kafka-1:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_BROKER_ID: 1
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-1:9092
      kafka-2:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_BROKER_ID: 1  # <- here
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-2:9092

Good:
    services:
      kafka-1:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_BROKER_ID: 1
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-1:9092
      kafka-2:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_BROKER_ID: 2
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-2:9092

Seen: ZooKeeper: Error while creating ephemeral at /brokers/ids/1, node already exists
    KRaft: Another broker is registered with that broker id.

Sources: KafkaZkClient.CheckedEphemeral, ClusterControlManager.registerBroker.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.prediction.cluster import cluster_key
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.broker_config import Mode
from netdiag.kafka.listeners import is_loopback

ID = "duplicate-node-id"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every node whose ID an earlier node of its cluster already has."""
    first: dict[tuple[object, int], Broker] = {}
    for broker in deployment.serving:
        node_id = broker.config.node_id
        # A negative id asks for one that is free.
        if node_id is None or node_id < 0 or not _is_shared(broker):
            continue
        other = first.setdefault((cluster_key(broker), node_id), broker)
        if other is not broker and not _are_apart(broker, other):
            yield _finding(broker, other, node_id)


def _is_shared(broker: Broker) -> bool:
    """Whether the address that names the cluster is the same for every node: localhost is not."""
    config = broker.config
    if config.mode is Mode.KRAFT:
        return any(not is_loopback(voter.host) for voter in config.well_formed_voters)
    if config.mode is Mode.REDPANDA:
        return True
    return bool(config.quorum) and not is_loopback(config.quorum.partition(":")[0])


def _are_apart(broker: Broker, other: Broker) -> bool:
    """Whether each is the only voter of a quorum of its own, under an alias that both have, as tests start them."""
    hosts = {voter.host for voter in broker.config.well_formed_voters}
    return broker.member.started_by is not None and all(
        one.config.is_controller and len(hosts) == 1 and hosts <= set(one.member.known_as) for one in (broker, other)
    )


def _finding(broker: Broker, other: Broker, node_id: int) -> Finding:
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"{broker.name} has node ID {node_id}, which {other.name} already has",
        location=broker.place(_property(broker)),
        related=(Related(location=other.place(_property(other)), message=f"the node ID of {other.name}"),),
        why="a cluster identifies its nodes by ID",
        hint=f"give {broker.name} a node ID of its own",
        service=broker.name,
    )


def _property(broker: Broker) -> str:
    return "node.id" if "node.id" in broker.config.settings else "broker.id"
