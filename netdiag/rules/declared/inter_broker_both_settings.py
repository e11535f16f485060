"""The inter-broker listener is set in two ways.

Why: inter.broker.listener.name sets the listener by name, security.inter.broker.protocol by its protocol. Kafka refuses
to start with both.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_INTER_BROKER_LISTENER_NAME: PLAINTEXT
          KAFKA_SECURITY_INTER_BROKER_PROTOCOL: PLAINTEXT  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_INTER_BROKER_LISTENER_NAME: PLAINTEXT

Seen: Only one of inter.broker.listener.name and security.inter.broker.protocol should be set.

Sources: KafkaConfig.getInterBrokerListenerNameAndSecurityProtocol, KIP-103.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.repairs import remove_property
from netdiag.findings import Finding, Related, Severity

ID = "inter-broker-both-settings"
SEVERITY = Severity.ERROR
_NAME = "inter.broker.listener.name"
_PROTOCOL = "security.inter.broker.protocol"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every broker with both settings."""
    for broker in deployment.configured:
        if not broker.config.value(_NAME) or not broker.config.value(_PROTOCOL):
            continue
        yield Finding(
            rule=ID,
            severity=SEVERITY,
            message=f"{broker.name} sets both {_NAME} and {_PROTOCOL}",
            location=broker.place(_PROTOCOL),
            related=(Related(location=broker.place(_NAME), message="already sets the listener"),),
            why="each of the two sets the listener for connections between brokers",
            hint=f"remove {_PROTOCOL}: listener.security.protocol.map sets the protocol of the listener",
            service=broker.name,
            edits=remove_property(broker, _PROTOCOL),
            broker_prints=f"Only one of {_NAME} and {_PROTOCOL} should be set.",
        )
