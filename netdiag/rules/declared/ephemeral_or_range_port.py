"""A listener for the docker host is published on a port that the engine picks.

Why: Without a host port, or with a range, the engine picks a port of the docker host when the container starts, and the
advertised port does not match it.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["9092"]  # <- here
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,EXTERNAL://localhost:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        ports: ["9092:9092"]
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,EXTERNAL://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,EXTERNAL://localhost:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT

Seen: Connect to ipv4#127.0.0.1:9092 failed: Connection refused

Sources: compose-spec, ports: the engine publishes a container port without a host port on any free port.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment, PublishedPort
from netdiag.deployment.prediction.listener_access import (
    is_host_address,
    is_on_internal_networks_only,
    listener_of,
    published_for,
)
from netdiag.deployment.repairs import pin_port
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.listeners import ListenerEntry

ID = "ephemeral-or-range-port"
SEVERITY = Severity.WARNING


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every listener for the docker host that has no fixed published port."""
    for broker in deployment.serving:
        # Testcontainers asks which port it is, before it starts the broker.
        if is_on_internal_networks_only(deployment, broker) or broker.member.started_by is not None:
            continue
        for entry in broker.config.advertised_listeners:
            bound = listener_of(broker, entry.endpoint.listener)
            if bound is None or not is_host_address(deployment, entry.endpoint.host):
                continue
            ports = published_for(broker, bound)
            if ports and all(port.published is None for port in ports):
                yield _finding(broker, entry, ports[0])


def _finding(broker: Broker, entry: ListenerEntry, port: PublishedPort) -> Finding:
    endpoint = entry.endpoint
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"listener {endpoint.listener} of {broker.name} sends clients to port {endpoint.port}, but the engine "
        f"picks its published port",
        location=port.where,
        related=(
            Related(
                location=broker.place("advertised.listeners", entry.port_start, entry.port_end),
                message="the advertised port",
            ),
        ),
        why="the engine picks the port when the container starts, and the broker does not know it",
        hint=f'publish "{endpoint.port}:{port.target}"',
        service=broker.name,
        listener=endpoint.listener,
        edits=pin_port(broker.member, port, endpoint.port),
    )
