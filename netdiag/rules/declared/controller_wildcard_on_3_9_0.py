"""Kafka 3.9.0 refuses a controller listener on 0.0.0.0.

Why: Kafka 3.9.0 applies the checks for advertised broker endpoints to controllers too. A controller listener that is
not advertised counts as advertised at the address it binds, so a node that binds it to 0.0.0.0 does not start. Other
versions, 3.9.1 included, accept it.

Bad:
    services:
      kafka:
        image: apache/kafka:3.9.0
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_LISTENERS: PLAINTEXT://0.0.0.0:9092,CONTROLLER://0.0.0.0:9093  # <- here
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093

Good:
    services:
      kafka:
        image: apache/kafka:3.9.0
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_LISTENERS: PLAINTEXT://0.0.0.0:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093

Seen: requirement failed: advertised.listeners cannot use the nonroutable meta-address 0.0.0.0. Use a routable IP
    address.

Sources: KafkaConfig.effectiveAdvertisedControllerListeners (3.9.0), KAFKA-18281 (3.9.1, 4.0.0).
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Deployment
from netdiag.findings import Finding, Severity
from netdiag.kafka.images.reference import KafkaVersion

ID = "controller-wildcard-on-3.9.0"
SEVERITY = Severity.ERROR
_ONLY = KafkaVersion(3, 9, 0)


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every controller listener on 0.0.0.0 that is not advertised, in this version only."""
    for broker in deployment.configured:
        config = broker.config
        if config.version != _ONLY or not config.is_controller or not config.is_readable:
            continue
        advertised = {entry.endpoint.listener for entry in config.advertised_controller_listeners}
        for entry in config.controller_listeners:
            if entry.endpoint.host != "0.0.0.0" or entry.endpoint.listener in advertised:
                continue
            listener, port = entry.endpoint.listener, entry.endpoint.port
            yield Finding(
                rule=ID,
                severity=SEVERITY,
                message=f'{broker.member.image} refuses "0.0.0.0" for controller listener {listener} of {broker.name}',
                location=broker.place("listeners", entry.host_start, entry.host_end),
                why="Kafka 3.9.0 takes the address that a controller binds for an advertised address",
                hint=f"write {listener}://:{port}, which also binds all addresses, or use 3.9.1",
                service=broker.name,
                listener=listener,
                edits=broker.edit("listeners", entry.host_start, entry.host_end, ""),
                broker_prints="advertised.listeners cannot use the nonroutable meta-address 0.0.0.0",
            )
