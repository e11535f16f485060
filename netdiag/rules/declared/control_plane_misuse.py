"""control.plane.listener.name names an unsuitable listener.

Why: With ZooKeeper, Kafka 2.2 to 3.9 can receive the controller's requests on a dedicated listener, which must be
mapped, advertised and different from the inter-broker listener. KRaft nodes of these versions refuse the setting; Kafka
4.0 removed it, so there it is only a note.

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
          KAFKA_CONTROL_PLANE_LISTENER_NAME: CONTROLLER  # <- here
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
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093

Seen: requirement failed: control.plane.listener.name is not supported in KRaft mode.

Sources: KafkaConfig.validateValues and getControlPlaneListenerNameAndSecurityProtocol (2.2 to 3.9), KIP-291.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.findings import Finding, Severity
from netdiag.kafka.broker_config import Mode

ID = "control-plane-misuse"
SEVERITY = Severity.ERROR
_NAME = "control.plane.listener.name"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every broker that refuses the setting, or whose version no longer has it."""
    for broker in deployment.configured:
        config = broker.config
        name = (config.value(_NAME) or "").upper()
        if not name or config.is_older_than(2, 2):
            continue
        if config.mode is Mode.KRAFT:
            yield _in_kraft(broker)
        elif config.is_readable and not (config.version is None or config.version.at_least(4)):
            yield from _with_zookeeper(broker, name)


def _in_kraft(broker: Broker) -> Finding:
    refused = broker.config.is_older_than(4)
    return Finding(
        rule=ID,
        severity=SEVERITY if refused else Severity.NOTE,
        message=f"{broker.name} is a KRaft node but sets {_NAME}",
        location=broker.place(_NAME),
        why="the setting applies only with ZooKeeper; KRaft uses controller.listener.names",
        hint=f"remove {_NAME}",
        service=broker.name,
        broker_prints=f"{_NAME} is not supported in KRaft mode." if refused else None,
    )


def _with_zookeeper(broker: Broker, name: str) -> Iterator[Finding]:
    """The first of the broker's own checks that fails."""
    config = broker.config
    if name not in config.protocol_map:
        effect, prints = "has no security protocol", f"Listener with {name} defined in {_NAME} not found in"
    elif name not in {entry.endpoint.listener for entry in config.advertised_listeners}:
        effect, prints = "is not advertised", f"{_NAME} must be a listener name defined in advertised.listeners."
    elif name == config.inter_broker_listener:
        effect = "is also the inter-broker listener"
        prints = f"{_NAME}, when defined, should have a different value from the inter broker listener name."
    else:
        return
    yield Finding(
        rule=ID,
        severity=SEVERITY,
        message=f'{broker.name} sets {_NAME} to "{name}", which {effect}',
        location=broker.place(_NAME),
        why="the controller connects to the brokers through this listener, at its advertised endpoint",
        hint=f"remove {_NAME}, or name a listener that is mapped, advertised and not the inter-broker listener",
        service=broker.name,
        listener=name,
        broker_prints=prints,
    )
