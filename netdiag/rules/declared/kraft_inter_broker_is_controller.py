"""The inter-broker listener is a controller listener.

Why: Listeners in controller.listener.names belong to the quorum and are not advertised as broker listeners, so brokers
cannot reach one another there. A node with only the controller role may set this up to Kafka 3.9; Kafka 4.0 refuses it.

Bad:
    services:
      kafka:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_INTER_BROKER_LISTENER_NAME: CONTROLLER  # <- here
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093

Good:
    services:
      kafka:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_INTER_BROKER_LISTENER_NAME: PLAINTEXT
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093

Seen: requirement failed: inter.broker.listener.name must be a listener name defined in advertised.listeners.

Sources: KafkaConfig.validateValues (3.9), AbstractKafkaConfig (4.x), KAFKA-18305.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.broker_config import Mode

ID = "kraft-inter-broker-is-controller"
SEVERITY = Severity.ERROR
_NAME = "inter.broker.listener.name"
_CONTROLLERS = "controller.listener.names"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every node that uses the same listener for both."""
    for broker in deployment.configured:
        config = broker.config
        if config.mode is not Mode.KRAFT or not config.value(_NAME) or not config.is_readable:
            continue
        if config.inter_broker_listener not in config.controller_names:
            continue
        if config.is_broker and config.advertised_listeners:
            mapped = config.inter_broker_listener in config.protocol_map
            unmapped = f"Listener with name {config.inter_broker_listener} defined in {_NAME} not found"
            prints = f"{_NAME} must be a listener name defined in advertised.listeners"
            yield _finding(broker, SEVERITY, prints if mapped else unmapped)
        elif config.is_controller_only and config.version is not None and config.version.at_least(4):
            yield _finding(broker, SEVERITY, f"{_CONTROLLERS} must not contain an explicitly set {_NAME}")


def _finding(broker: Broker, severity: Severity, prints: str) -> Finding:
    listener = broker.config.inter_broker_listener
    only = broker.config.is_controller_only
    return Finding(
        rule=ID,
        severity=severity,
        message=f'{broker.name} uses the controller listener "{listener}" as its inter-broker listener',
        location=broker.place(_NAME),
        related=(Related(location=broker.place(_CONTROLLERS), message="names it as a controller listener"),),
        why="brokers and controllers need separate listeners",
        hint=f"remove {_NAME}: a controller does not use it" if only else f"set {_NAME} to a broker listener",
        service=broker.name,
        listener=listener,
        broker_prints=prints,
    )
