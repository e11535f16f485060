"""A variable that the image insists on is missing.

Why: the start scripts of most images check a few variables before Kafka is started and end without them.

Bad:
    services:
      kafka:  # <- here
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092

Seen: KAFKA_ADVERTISED_LISTENERS is required.

Sources: the images' start scripts: Confluent Platform 7.2 to 8.0, bitnami/containers, wurstmeister/kafka-docker.
"""

from collections.abc import Iterator

from netdiag.deployment.member import Broker, Deployment
from netdiag.findings import Finding, Severity

ID = "image-required-env-missing"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every broker whose image stops at a missing variable."""
    for broker in deployment.brokers:
        refusal = broker.config.refusal
        if refusal is None or not refusal.missing or _is_told_elsewhere(broker, refusal.variable):
            continue
        yield Finding(
            rule=ID,
            severity=SEVERITY,
            message=f"{broker.name} does not set {refusal.variable}, which {broker.member.image} requires",
            location=broker.member.where,
            why="the image's start script ends before Kafka starts",
            hint=f"set {refusal.variable}",
            service=broker.name,
            broker_prints=refusal.prints,
        )


def _is_told_elsewhere(broker: Broker, variable: str) -> bool:
    """Whether another rule says it: roles that are missing because the broker is meant for a ZooKeeper."""
    roles = ("KAFKA_PROCESS_ROLES", "KAFKA_CFG_PROCESS_ROLES")
    return variable in roles and bool(broker.config.value("zookeeper.connect"))
