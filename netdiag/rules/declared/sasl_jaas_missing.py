"""A listener enables a mechanism that has no JAAS entry.

Why: A broker looks for listener.name.NAME.MECHANISM.sasl.jaas.config, then for a section NAME.KafkaServer or
KafkaServer in the file of java.security.auth.login.config, and exits if there is none. It ignores a plain
sasl.jaas.config.

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
          KAFKA_LISTENER_NAME_LOGIN_SASL_ENABLED_MECHANISMS: PLAIN  # <- here
          KAFKA_SASL_JAAS_CONFIG: >-
            org.apache.kafka.common.security.plain.PlainLoginModule required user_app="app-secret";

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

Seen: Could not find a 'KafkaServer' or 'login.KafkaServer' entry in the JAAS configuration.

Sources: JaasContext.loadServerContext of Kafka 3.9 and 4.x.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment, ListenerLogin
from netdiag.findings import Finding, Severity

ID = "sasl-jaas-missing"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every listener, at the mechanisms that it enables."""
    for broker in deployment.configured:
        for login in broker.logins:
            if login.missing:
                yield _finding(broker, login)


def _finding(broker: Broker, login: ListenerLogin) -> Finding:
    listener, mechanism = login.listener, login.missing[0]
    own = f"listener.name.{listener.lower()}.sasl.enabled.mechanisms"
    is_own = own in broker.config.settings
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"{listener} of {broker.name} enables {mechanism}, which has no JAAS entry",
        location=broker.place(own if is_own else "sasl.enabled.mechanisms"),
        why="a broker ignores sasl.jaas.config without the names of a listener and of a mechanism before it"
        if "sasl.jaas.config" in broker.config.settings
        else "a broker needs a JAAS entry for each mechanism of a listener, and exits without it",
        hint=f"set listener.name.{listener.lower()}.{mechanism.lower()}.sasl.jaas.config",
        service=broker.name,
        listener=listener,
        broker_prints=f"Could not find a 'KafkaServer' or '{listener.lower()}.KafkaServer' entry in the JAAS "
        "configuration",
    )
