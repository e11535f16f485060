"""A client does not compare the host that it connects to with the names in the certificate.

Why: With an empty ssl.endpoint.identification.algorithm, whoever has a certificate of the same authority can pose as
the broker. It also hides certificates that do not cover the advertised host, until another client checks.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: INNER://:29092,SECURE://:9092
          KAFKA_ADVERTISED_LISTENERS: INNER://kafka:29092,SECURE://kafka:9092
          KAFKA_INTER_BROKER_LISTENER_NAME: INNER
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INNER:PLAINTEXT,SECURE:SSL
          KAFKA_SSL_KEYSTORE_TYPE: PEM
          KAFKA_SSL_KEYSTORE_LOCATION: /etc/kafka/secrets/kafka.pem
        volumes: ["./secrets:/etc/kafka/secrets"]
      app:
        image: example/app:1
        command: kafka-topics --list --bootstrap-server kafka:9092 --command-config /etc/app.properties  # <- here
        volumes: ["./app.properties:/etc/app.properties"]
    x-files:
      app.properties: |
        security.protocol=SSL
        ssl.endpoint.identification.algorithm=

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: INNER://:29092,SECURE://:9092
          KAFKA_ADVERTISED_LISTENERS: INNER://kafka:29092,SECURE://kafka:9092
          KAFKA_INTER_BROKER_LISTENER_NAME: INNER
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INNER:PLAINTEXT,SECURE:SSL
          KAFKA_SSL_KEYSTORE_TYPE: PEM
          KAFKA_SSL_KEYSTORE_LOCATION: /etc/kafka/secrets/kafka.pem
        volumes: ["./secrets:/etc/kafka/secrets"]
      app:
        image: example/app:1
        command: kafka-topics --list --bootstrap-server kafka:9092 --command-config /etc/app.properties
        volumes: ["./app.properties:/etc/app.properties"]
    x-files:
      app.properties: |
        security.protocol=SSL

Seen: No message: the client connects.

Sources: ssl.endpoint.identification.algorithm of Kafka's clients and brokers.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.secured import identity_of, is_between_brokers, tls_attempts
from netdiag.findings import Finding, Location, Severity

ID = "host-names-unchecked"
SEVERITY = Severity.NOTE

_SETTING = "ssl.endpoint.identification.algorithm"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One note for every client, and for every broker that connects to others so."""
    for one in tls_attempts(deployment):
        if not one.checks_names:
            yield _finding(one.attempt.member.name, one.attempt.where)
    for broker in deployment.configured:
        listener = broker.config.inter_broker_listener
        identity = identity_of(broker, listener)
        if identity is not None and not identity.checks_names and is_between_brokers(deployment, broker, listener):
            own = f"listener.name.{listener.lower()}.{_SETTING}"
            yield _finding(broker.name, broker.place(own if own in broker.config.settings else _SETTING))


def _finding(client: str, where: Location) -> Finding:
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"{client} does not compare hosts with the names in certificates",
        location=where,
        why="whoever has a certificate of the same authority can pose as the broker",
        hint=f"issue certificates with every advertised host, and leave {_SETTING} at its default",
        service=client,
    )
