"""The image refuses a variable that is set.

Why: The start scripts exit if they find variables of earlier versions, or advertised listeners on a node that is only a
KRaft controller.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_ADVERTISED_PORT: 9092  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092

Seen: advertised.port is deprecated. Please use KAFKA_ADVERTISED_LISTENERS instead.

Sources: the images' configure scripts: Confluent Platform 7.2 to 8.0, Apache Kafka 3.7 to 4.x.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.repairs import remove_variable
from netdiag.findings import Finding, Severity

ID = "image-env-rejected"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every broker whose image refuses a variable that is set."""
    for broker in deployment.brokers:
        refusal = broker.config.refusal
        if refusal is None or refusal.missing:
            continue
        declared = broker.declared.get(refusal.variable)
        yield Finding(
            rule=ID,
            severity=SEVERITY,
            message=f"{broker.name} sets {refusal.variable}, which {broker.member.image} refuses",
            location=declared.at() if declared else broker.member.where,
            why="the image's start script exits before Kafka starts",
            hint=f"remove {refusal.variable}",
            service=broker.name,
            edits=remove_variable(broker.member, refusal.variable),
            broker_prints=refusal.prints,
        )
