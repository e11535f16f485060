"""A client logs in with SCRAM as a user that nothing here creates.

Why: Users of SCRAM are stored in the cluster, not configured. Before the first start there are none, so the login fails
until somebody creates the user: kafka-storage format --add-scram before the first start, kafka-configs afterwards. Each
mechanism has credentials of its own.

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

        sasl.mechanism=SCRAM-SHA-512

        sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required
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
          KAFKA_LISTENER_NAME_LOGIN_SASL_ENABLED_MECHANISMS: SCRAM-SHA-512
          KAFKA_LISTENER_NAME_LOGIN_SCRAM___SHA___512_SASL_JAAS_CONFIG: >-
            org.apache.kafka.common.security.scram.ScramLoginModule required;
      users:
        image: apache/kafka:3.9.1
        command: >-
          /opt/kafka/bin/kafka-configs.sh --bootstrap-server kafka:29092 --alter --entity-type users --entity-name app
          --add-config SCRAM-SHA-512=[password=app-secret]
      app:
        image: example/app:1
        command: kafka-topics --list --bootstrap-server kafka:9092 --command-config /etc/app.properties
        volumes: ["./app.properties:/etc/app.properties"]
    x-files:
      app.properties: >
        security.protocol=SASL_PLAINTEXT

        sasl.mechanism=SCRAM-SHA-512

        sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required
        username="app" password="app-secret";

Seen: SaslAuthenticationException: Authentication failed during authentication due to invalid credentials with SASL
    mechanism SCRAM-SHA-512

Sources: ScramSaslServer of Kafka 3.9 and 4.x; KIP-84, KIP-900.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.secured import login_attempts
from netdiag.findings import Finding, Severity

ID = "sasl-scram-user-missing"
SEVERITY = Severity.WARNING


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every client whose user no command creates for its mechanism, where all that do so are known."""
    users = deployment.users
    if not users.is_whole:
        return
    for one in login_attempts(deployment):
        mechanism, user, client = one.properties.mechanism, one.properties.username, one.attempt.member.name
        if not mechanism.startswith("SCRAM-") or mechanism not in one.login.mechanisms or not user:
            continue
        if (mechanism, user) in users.passwords:
            continue
        others = any(name == user for _, name in users.passwords)
        lacking = "that user is created for another mechanism" if others else "nothing here creates that user"
        yield Finding(
            rule=ID,
            severity=SEVERITY,
            message=f'{client} logs in with {mechanism} as "{user}", and {lacking}',
            location=one.attempt.where,
            why="users of SCRAM are stored in the cluster, and a new cluster has none: a Java client ends with "
            f'"{refusal(mechanism)}"',
            hint=f"create it with kafka-configs --alter --entity-type users --entity-name {user}",
            service=client,
            listener=one.login.listener,
        )


def refusal(mechanism: str) -> str:
    """What a client prints whose user or password the broker does not know."""
    return f"Authentication failed during authentication due to invalid credentials with SASL mechanism {mechanism}"
