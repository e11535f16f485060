"""wurstmeister/kafka has advertised listeners but no listeners.

Why: The start script exits if KAFKA_ADVERTISED_LISTENERS is set without KAFKA_LISTENERS; it does not derive one from
the other.

Bad:
    services:
      zookeeper:
        image: zookeeper:3.9
      kafka:
        image: wurstmeister/kafka:2.13-2.8.1
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092  # <- here

Good:
    services:
      zookeeper:
        image: zookeeper:3.9
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092

Seen: ERROR: Missing environment variable KAFKA_LISTENERS. Must be specified when using KAFKA_ADVERTISED_LISTENERS

Sources: start-kafka.sh of wurstmeister/kafka-docker.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Deployment
from netdiag.findings import Finding, Severity
from netdiag.kafka.images.reference import ImageFamily

ID = "wurstmeister-listeners-missing"
SEVERITY = Severity.ERROR
_ADVERTISED = "KAFKA_ADVERTISED_LISTENERS"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every broker of this image that advertises without listeners."""
    for broker in deployment.brokers:
        refusal = broker.config.refusal
        if broker.config.family is not ImageFamily.WURSTMEISTER or refusal is None:
            continue
        if refusal.variable != "KAFKA_LISTENERS" or _ADVERTISED not in broker.declared:
            continue
        yield Finding(
            rule=ID,
            severity=SEVERITY,
            message=f"{broker.name} sets {_ADVERTISED} without KAFKA_LISTENERS, which {broker.member.image} refuses",
            location=broker.declared[_ADVERTISED].at(),
            why="the image's start script exits before Kafka starts",
            hint="set KAFKA_LISTENERS to the same names and ports, without host names",
            service=broker.name,
            broker_prints=refusal.prints,
        )
