"""A client uses another security protocol than the listener it connects to.

Why: A listener accepts one security protocol. It disconnects a client that uses another one, or the client waits until
it times out. The client's protocol is the one declared beside its bootstrap servers; Kafka's own tools and Confluent's
services use PLAINTEXT by default.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,SSL://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,SSL://kafka:9093
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,SSL:SSL
          KAFKA_SSL_KEYSTORE_FILENAME: kafka.jks
          KAFKA_SSL_KEYSTORE_CREDENTIALS: credentials
          KAFKA_SSL_KEY_CREDENTIALS: credentials
        volumes: ["./secrets:/etc/kafka/secrets"]
      app:
        image: example/app:1
        environment:
          SPRING_KAFKA_BOOTSTRAP_SERVERS: kafka:29092  # <- here
          SPRING_KAFKA_SECURITY_PROTOCOL: SSL

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,SSL://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,SSL://kafka:9093
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,SSL:SSL
          KAFKA_SSL_KEYSTORE_FILENAME: kafka.jks
          KAFKA_SSL_KEYSTORE_CREDENTIALS: credentials
          KAFKA_SSL_KEY_CREDENTIALS: credentials
        volumes: ["./secrets:/etc/kafka/secrets"]
      app:
        image: example/app:1
        environment:
          SPRING_KAFKA_BOOTSTRAP_SERVERS: kafka:9093
          SPRING_KAFKA_SECURITY_PROTOCOL: SSL

Seen: Invalid receive (size = 369295617 larger than 104857600)

Sources: SocketServer: each endpoint gets the channel builder of its own security protocol.
"""

from collections.abc import Iterator

from netdiag.deployment.clients import (
    Attempt,
    accepting_listener,
    attempts,
    client_protocol,
    listener_protocol,
    severity_of,
)
from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.prediction.sockets import Accepted
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.listeners import ListenerEntry

ID = "client-protocol-mismatch"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every bootstrap address whose listener requires another protocol than the client uses."""
    for attempt in attempts(deployment):
        landed = accepting_listener(deployment, attempt.vantage, attempt.address.host, attempt.address.port)
        if landed is None or landed.broker not in deployment.configured or landed.broker.is_configured_by_file:
            continue
        if landed.entry.endpoint.listener in landed.broker.config.controller_names:
            continue
        speaks, wanted = client_protocol(attempt), listener_protocol(landed)
        if speaks and wanted and speaks != wanted:
            yield _finding(deployment, attempt, landed, speaks, wanted)


def _finding(deployment: Deployment, attempt: Attempt, landed: Accepted, speaks: str, wanted: str) -> Finding:
    broker, name = landed.broker, landed.entry.endpoint.listener
    other = _speaking(landed, speaks)
    use = f"use port {other.endpoint.port} (listener {other.endpoint.listener}), or " if other else ""
    place = broker.place("listeners", landed.entry.start, landed.entry.end)
    return Finding(
        rule=ID,
        severity=severity_of(deployment, attempt),
        message=f'{attempt.member.name} uses {speaks} for "{attempt.address}", but listener {name} of {broker.name} '
        f"requires {wanted}",
        location=attempt.where,
        related=(Related(location=place, message=f"{name} requires {wanted}"),),
        why="a listener accepts only its own security protocol",
        hint=f"{use}set the security protocol of {attempt.member.name} to {wanted}",
        service=attempt.member.name,
        listener=name,
    )


def _speaking(landed: Accepted, protocol: str) -> ListenerEntry | None:
    config = landed.broker.config
    found = (e for e in config.broker_listeners if config.protocol_map.get(e.endpoint.listener) == protocol)
    return next(found, None)
