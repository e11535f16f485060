"""control.plane.listener.name names a listener that cannot be the control plane's.

Why: with ZooKeeper, brokers of 2.2 to 3.9 can hear their controller on a listener of its own, which has to be mapped,
advertised and another than the inter-broker one. A KRaft node of those releases refuses the setting; 4.0 forgot it, a
note then.

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

from netdiag.deployment.member import Broker, Deployment
from netdiag.findings import Finding, Severity
from netdiag.kafka.broker_config import Mode

ID = "control-plane-misuse"
SEVERITY = Severity.ERROR
_NAME = "control.plane.listener.name"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every broker that refuses the setting, or that does not know it any more."""
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
        message=f"{broker.name} is a KRaft node and sets {_NAME}",
        location=broker.place(_NAME),
        why="the setting is for clusters with ZooKeeper; KRaft has controller.listener.names",
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
        effect = "is the listener that brokers use among themselves"
        prints = f"{_NAME}, when defined, should have a different value from the inter broker listener name."
    else:
        return
    yield Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"the control plane of {broker.name} is to be {name}, which {effect}",
        location=broker.place(_NAME),
        why="the controller speaks to a broker on a listener of its own, and finds it as it finds the others",
        hint=f"remove {_NAME}, or name a listener that is mapped, advertised and used by nobody else",
        service=broker.name,
        listener=name,
        broker_prints=prints,
    )
