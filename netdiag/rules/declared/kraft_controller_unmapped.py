"""A broker has no security protocol for the controller listener.

Why: A node with only the broker role connects to the controllers over the first listener in controller.listener.names.
It does not bind that listener, but listener.security.protocol.map must have an entry for it; setting the map discards
Kafka's defaults.

Bad:
    services:
      controller:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: controller
          KAFKA_LISTENERS: CONTROLLER://:9093
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@controller:9093
      kafka:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 2
          KAFKA_PROCESS_ROLES: broker
          KAFKA_LISTENERS: PLAINTEXT://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@controller:9093
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT  # <- here

Good:
    services:
      controller:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: controller
          KAFKA_LISTENERS: CONTROLLER://:9093
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@controller:9093
      kafka:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 2
          KAFKA_PROCESS_ROLES: broker
          KAFKA_LISTENERS: PLAINTEXT://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@controller:9093
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT"

Seen: Controller listener with name CONTROLLER defined in controller.listener.names not found in
    listener.security.protocol.map

Sources: KafkaConfig.validateValues (3.1 and newer), KAFKA-13456.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.repairs import map_listener
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.listeners import MalformedEntry

ID = "kraft-controller-unmapped"
SEVERITY = Severity.ERROR
_NAMES = "controller.listener.names"
_MAP = "listener.security.protocol.map"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every broker-only node that has no protocol for its controllers."""
    for broker in deployment.configured:
        config = broker.config
        if not config.is_broker_only or config.is_unknown(_NAMES) or config.is_unknown(_MAP):
            continue
        if not config.controller_names:
            if not config.is_older_than(3, 1):
                yield _unnamed(broker)
            continue
        if any(isinstance(entry, MalformedEntry) for entry in config.protocol_map_entries):
            continue
        for name in config.controller_names:
            listener = name.strip().upper()
            if listener not in config.protocol_map and not config.is_older_than(3, 1):
                yield _unmapped(broker, listener)


def _unnamed(broker: Broker) -> Finding:
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"{broker.name} has only the broker role and does not set controller.listener.names",
        location=broker.place("process.roles"),
        why="the broker takes the protocol for its controllers from the listener with that name",
        hint="set KAFKA_CONTROLLER_LISTENER_NAMES to the name that the controllers use, usually CONTROLLER",
        service=broker.name,
        broker_prints=broker.config.without_controller_names(
            f"{_NAMES} must contain at least one value when running KRaft with just the broker role"
        ),
    )


def _unmapped(broker: Broker, listener: str) -> Finding:
    given = _MAP in broker.config.settings
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f'{broker.name} has no security protocol for the controller listener "{listener}"',
        location=broker.place(_MAP if given else _NAMES),
        related=(Related(location=broker.place(_NAMES), message="the controller listener"),) if given else (),
        why="a broker needs the protocol of the controller listener even though it does not bind it",
        hint=f"add {listener}:PLAINTEXT, or the protocol that the controllers use, to {_MAP}",
        service=broker.name,
        listener=listener,
        edits=map_listener(broker, listener),
        broker_prints=f"defined in {_NAMES} not found in {_MAP}",
    )
