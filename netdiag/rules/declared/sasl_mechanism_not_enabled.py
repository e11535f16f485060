"""A client logs in with a mechanism that the listener does not enable.

Why: A broker refuses a login whose mechanism is not in sasl.enabled.mechanisms of the listener.

Bad:
    services:
      kafka:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_LISTENERS: INNER://:29092,LOGIN://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: INNER://kafka:29092,LOGIN://kafka:9092
          KAFKA_INTER_BROKER_LISTENER_NAME: INNER
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INNER:PLAINTEXT,LOGIN:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT
          KAFKA_LISTENER_NAME_LOGIN_SASL_ENABLED_MECHANISMS: SCRAM-SHA-512
          KAFKA_LISTENER_NAME_LOGIN_SCRAM___SHA___512_SASL_JAAS_CONFIG: >-
            org.apache.kafka.common.security.scram.ScramLoginModule required;
      app:
        image: example/app:1
        command: kafka-topics --list --bootstrap-server kafka:9092 --command-config /etc/app.properties  # <- here
        volumes: ["./app.properties:/etc/app.properties"]
    x-files:
      app.properties: >
        security.protocol=SASL_PLAINTEXT

        sasl.mechanism=PLAIN

        sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required
        username="app" password="app-secret";

Good:
    services:
      kafka:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_LISTENERS: INNER://:29092,LOGIN://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: INNER://kafka:29092,LOGIN://kafka:9092
          KAFKA_INTER_BROKER_LISTENER_NAME: INNER
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INNER:PLAINTEXT,LOGIN:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT
          KAFKA_LISTENER_NAME_LOGIN_SASL_ENABLED_MECHANISMS: PLAIN
          KAFKA_LISTENER_NAME_LOGIN_PLAIN_SASL_JAAS_CONFIG: >-
            org.apache.kafka.common.security.plain.PlainLoginModule required user_app="app-secret";
      app:
        image: example/app:1
        command: kafka-topics --list --bootstrap-server kafka:9092 --command-config /etc/app.properties
        volumes: ["./app.properties:/etc/app.properties"]
    x-files:
      app.properties: >
        security.protocol=SASL_PLAINTEXT

        sasl.mechanism=PLAIN

        sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required
        username="app" password="app-secret";

Seen: UnsupportedSaslMechanismException: Client SASL mechanism 'PLAIN' not enabled in the server, enabled mechanisms are
    [SCRAM-SHA-512]

Sources: SaslServerAuthenticator and SaslClientAuthenticator of Kafka 3.9 and 4.x.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.secured import login_attempts
from netdiag.findings import Finding, Related, Severity

ID = "sasl-mechanism-not-enabled"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every client and listener."""
    for one in login_attempts(deployment):
        mechanism, login = one.properties.mechanism, one.login
        if mechanism in login.mechanisms:
            continue
        client, enabled = one.attempt.member.name, ", ".join(login.mechanisms)
        yield Finding(
            rule=ID,
            severity=SEVERITY,
            message=f"{client} logs in with {mechanism}, but {login.listener} of {one.broker.name} enables only "
            f"{enabled}",
            location=one.attempt.where,
            related=(Related(location=login.where, message="what the listener enables"),),
            why=f"a Java client ends with \"Client SASL mechanism '{mechanism}' not enabled in the server\"",
            hint=f"set sasl.mechanism of {client} to one of them, or enable {mechanism} on the listener",
            service=client,
            listener=login.listener,
        )
