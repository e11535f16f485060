"""A login names a user that the broker does not know, or another password.

Why: The users of PLAIN that a broker knows are the options user_NAME="PASSWORD" of its JAAS entry. Brokers log in to
one another with username and password of the same entry, so that user must be among them, too. Users of SCRAM have the
password with which a command here creates them; sasl-scram-user-missing finds those that nothing creates.

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
          KAFKA_LISTENER_NAME_LOGIN_SASL_ENABLED_MECHANISMS: PLAIN
          KAFKA_LISTENER_NAME_LOGIN_PLAIN_SASL_JAAS_CONFIG: >-
            org.apache.kafka.common.security.plain.PlainLoginModule required user_app="app-secret";
      app:
        image: example/app:1
        command: kafka-topics --list --bootstrap-server kafka:9092 --command-config /etc/app.properties  # <- here
        volumes: ["./app.properties:/etc/app.properties"]
    x-files:
      app.properties: >
        security.protocol=SASL_PLAINTEXT

        sasl.mechanism=PLAIN

        sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required
        username="application" password="app-secret";

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

Seen: SaslAuthenticationException: Authentication failed: Invalid username or password

Sources: PlainServerCallbackHandler and PlainLoginModule of Kafka 3.9 and 4.x.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment, ListenerLogin
from netdiag.deployment.prediction.listener_access import other_brokers
from netdiag.deployment.secured import LoginAttempt, login_attempts, login_of
from netdiag.findings import Finding, Related, Severity
from netdiag.rules.declared.sasl_scram_user_missing import refusal

ID = "sasl-user-unknown"
SEVERITY = Severity.ERROR

_REFUSAL = "Authentication failed: Invalid username or password"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every client that is refused, and for every broker that others refuse."""
    for one in login_attempts(deployment):
        if one.properties.mechanism == "PLAIN" and "PLAIN" in one.login.mechanisms and one.login.users is not None:
            because = _because(one.login, one.properties.username, one.properties.password)
            if because:
                yield _of_client(one, because, _REFUSAL)
        mechanism = one.properties.mechanism
        created = deployment.users.passwords.get((mechanism, one.properties.username))
        if mechanism in one.login.mechanisms and created is not None and created != one.properties.password:
            yield _of_client(one, "which is created with another password here", refusal(mechanism))
    for broker in deployment.configured:
        own = login_of(broker, broker.config.inter_broker_listener)
        if own is None or own.own is None or broker.config.value("sasl.mechanism.inter.broker.protocol") != "PLAIN":
            continue
        for other in other_brokers(deployment, broker):
            asked = login_of(other, other.config.inter_broker_listener)
            because = _because(asked, *own.own) if asked is not None and asked.users is not None else ""
            if because:
                yield _of_broker(broker, own, other, because)
                break


def _because(asked: ListenerLogin, user: str, password: str) -> str:
    users = asked.users or {}
    if user not in users:
        return "which it does not know"
    return "" if users[user] == password else "which has another password there"


def _of_client(one: LoginAttempt, because: str, said: str) -> Finding:
    client = one.attempt.member.name
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f'{client} logs in to {one.broker.name} as "{one.properties.username}", {because}',
        location=one.attempt.where,
        related=(Related(location=one.login.where, message="the users of the listener"),),
        why=f'a Java client ends with "{said}"',
        hint="give the client and the broker the same user and password",
        service=client,
        listener=one.login.listener,
    )


def _of_broker(broker: Broker, own: ListenerLogin, other: Broker, because: str) -> Finding:
    user = own.own[0] if own.own else ""
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f'{broker.name} logs in to {other.name} as "{user}", {because}',
        location=own.where,
        why="brokers log in to one another with username and password of their own JAAS entry",
        hint=f"add user_{user} with this password to the JAAS entry of {other.name}",
        service=broker.name,
        listener=own.listener,
    )
