"""Two brokers of one cluster advertise the same endpoint.

Why: The address leads to only one of the brokers, so clients that are sent to the other one reach the wrong broker.
With ZooKeeper, the second broker to register exits; KRaft does not check.

Bad:
    services:
      kafka-1:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_BROKER_ID: 1
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-1:29092,EXTERNAL://broker.example.org:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT
      kafka-2:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_BROKER_ID: 2
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-2:29092,EXTERNAL://broker.example.org:9092  # <- here
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT

Good:
    services:
      kafka-1:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_BROKER_ID: 1
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-1:29092,EXTERNAL://broker.example.org:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT
      kafka-2:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_BROKER_ID: 2
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-2:29092,EXTERNAL://broker.example.org:9093
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT

Seen: Configured end points broker.example.org:9092 in advertised listeners are already registered by broker 1

Sources: KafkaServer.createBrokerInfo (2.0 to 3.9, KAFKA-6394); ClusterControlManager has no such check.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.prediction.cluster import cluster_key
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.broker_config import Mode
from netdiag.kafka.listeners import ListenerEntry

ID = "duplicate-advertised-endpoint"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every endpoint that an earlier broker of the cluster already advertises."""
    first: dict[tuple[object, str, int], tuple[Broker, ListenerEntry]] = {}
    for broker in deployment.serving:
        if not broker.config.is_broker:
            continue
        for entry in broker.config.advertised_listeners:
            if not entry.endpoint.host:
                continue
            key = (cluster_key(broker), entry.endpoint.host.lower(), entry.endpoint.port)
            other, same = first.setdefault(key, (broker, entry))
            if other is not broker:
                yield _finding(broker, entry, other, same)


def _finding(broker: Broker, entry: ListenerEntry, other: Broker, same: ListenerEntry) -> Finding:
    address = f"{entry.endpoint.host}:{entry.endpoint.port}"
    zookeeper = broker.config.mode is Mode.ZOOKEEPER
    effect = "the second to register usually exits" if zookeeper else "clients reach the wrong broker"
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f'{broker.name} and {other.name} both advertise "{address}": {effect}',
        location=broker.place("advertised.listeners", entry.start, entry.end),
        related=(
            Related(
                location=other.place("advertised.listeners", same.start, same.end),
                message=f"{other.name} advertises it too",
            ),
        ),
        why="an address leads to one broker, and a client does not check which broker answers",
        hint=f"give {broker.name} a port of its own, and publish that port",
        service=broker.name,
        listener=entry.endpoint.listener,
    )
