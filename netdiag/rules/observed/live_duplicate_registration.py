"""Another broker is registered under the ID of this one.

Why: An ID belongs to one broker. The second one with it cannot register: it ends, or waits, while clients that ask for
this ID get the first one.

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
        zookeeper:
          controller: 1
          brokers:
            1: {at: ["PLAINTEXT://kafka-of-a-colleague:9092"]}  # <- here
        nodes:
          kafka: {silent: "127.0.0.1:9092 refuses connections"}

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
        zookeeper:
          controller: 1
          brokers:
            1: {at: ["PLAINTEXT://kafka:9092"]}
        nodes:
          kafka: {now: {node: 1}}

Seen: "Error while creating ephemeral at /brokers/ids/1, node already exists" with ZooKeeper; with KRaft
"Another broker is registered with that broker id"

Sources: `KafkaZkClient.registerBroker` of Kafka 3.9, `ClusterControlManager.registerBroker` of Kafka 4.3.
"""

from collections.abc import Iterator

from netdiag.deployment.observation.live_view import LiveView
from netdiag.findings import ContainerLocation, Finding, Severity
from netdiag.kafka.registry import RegistryKind
from netdiag.rules.live_findings import listed

ID = "live-duplicate-registration"
SEVERITY = Severity.ERROR


def check(view: LiveView) -> Iterator[Finding]:
    """One finding for every member whose ID somebody else has registered."""
    found = view.registered
    registry = found.registry if found else None
    if found is None or registry is None:
        return
    for broker in registry.brokers:
        members = found.of_node(broker.node_id)
        at = listed(str(end) for end in broker.endpoints)
        ends = {(end.host, end.port) for end in broker.endpoints}
        for node in members:
            holders = [
                other.member
                for other in members
                if other is not node and ends & {(end.host, end.port) for end in other.declared}
            ]
            is_second = bool(holders) and not ends & {(end.host, end.port) for end in node.declared}
            if not is_second and not found.is_taken(node):
                continue
            holder = listed(holders) if holders else "another broker"
            yield Finding(
                rule=ID,
                severity=SEVERITY,
                message=f"{node.member} is node {broker.node_id}, which {holder} has registered with {at}",
                location=ContainerLocation(container=node.member, part="node.id"),
                why=f"only one broker can be registered with an ID ({registry.source})",
                hint=f"give {node.member} an ID of its own, or stop {holder}",
                service=node.member,
                broker_prints=f"Error while creating ephemeral at /brokers/ids/{broker.node_id}, node already exists"
                if registry.kind is RegistryKind.ZOOKEEPER
                else "DUPLICATE_BROKER_REGISTRATION",
            )
