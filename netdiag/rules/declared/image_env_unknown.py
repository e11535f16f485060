"""A variable is a misspelling of an important one and has no effect.

Why: Images turn every variable with their prefix into a property, and Kafka ignores properties that it does not know,
so nothing reports a misspelled name.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_INTER_BROKER_LISTENERS_NAME: PLAINTEXT  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_INTER_BROKER_LISTENER_NAME: PLAINTEXT

Seen: nothing: the setting has no effect

Sources: AbstractConfig.logUnused; KafkaDockerWrapper.getKafkaConfigFromEnv.
"""

from collections.abc import Iterator

from netdiag.deployment.misread_settings import misspelled_variables
from netdiag.deployment.model.deployment import Deployment
from netdiag.findings import Finding, Severity

ID = "image-env-unknown"
SEVERITY = Severity.WARNING


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every unknown property within two letters of a vital one that is not set."""
    for broker in deployment.brokers:
        for found in misspelled_variables(broker):
            yield Finding(
                rule=ID,
                severity=SEVERITY,
                message=f'{found.variable} of {broker.name} sets "{found.name}", which is not a Kafka property',
                location=broker.declared[found.variable].at(),
                why="Kafka ignores properties that it does not know",
                hint=f"rename it to {found.right} if you mean {found.meant}",
                service=broker.name,
            )
