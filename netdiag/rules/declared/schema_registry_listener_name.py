"""Schema Registry ignores its bootstrap servers because of their prefix.

Why: In kafkastore.bootstrap.servers the word before :// is a security protocol, and Schema Registry ignores every
endpoint whose word differs from kafkastore.security.protocol (PLAINTEXT by default). If the word is a listener name,
Schema Registry has no broker left and exits.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: INSIDE://:29092
          KAFKA_ADVERTISED_LISTENERS: INSIDE://kafka:29092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INSIDE:PLAINTEXT
          KAFKA_INTER_BROKER_LISTENER_NAME: INSIDE
      registry:
        image: confluentinc/cp-schema-registry:7.9.2
        environment:
          SCHEMA_REGISTRY_HOST_NAME: registry
          SCHEMA_REGISTRY_KAFKASTORE_BOOTSTRAP_SERVERS: INSIDE://kafka:29092  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: INSIDE://:29092
          KAFKA_ADVERTISED_LISTENERS: INSIDE://kafka:29092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INSIDE:PLAINTEXT
          KAFKA_INTER_BROKER_LISTENER_NAME: INSIDE
      registry:
        image: confluentinc/cp-schema-registry:7.9.2
        environment:
          SCHEMA_REGISTRY_HOST_NAME: registry
          SCHEMA_REGISTRY_KAFKASTORE_BOOTSTRAP_SERVERS: PLAINTEXT://kafka:29092

Seen: No supported Kafka endpoints are configured. kafkastore.bootstrap.servers must have at least one endpoint

Sources: SchemaRegistryConfig.endpointsToBootstrapServers.
"""

from collections.abc import Iterator

from netdiag.deployment.clients import Attempt, overlooked_by_registry, registry_protocol
from netdiag.deployment.model.deployment import Deployment, KafkaClient
from netdiag.findings import Finding, Severity

ID = "schema-registry-listener-name"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every endpoint that Schema Registry ignores; a note if it has another one."""
    for attempt in overlooked_by_registry(deployment):
        protocol = registry_protocol(attempt)
        if protocol is not None:
            yield _finding(attempt, protocol)


def _finding(attempt: Attempt, protocol: str) -> Finding:
    told, name = attempt.entry, attempt.member.name
    edit = attempt.client.declared.edit(told.start, told.start + len(told.scheme), protocol)
    rest = ", and has no other endpoint" if _all_left_out(attempt.client, protocol) else ""
    return Finding(
        rule=ID,
        severity=_severity(attempt) if rest else Severity.NOTE,
        message=f'{name} ignores "{told.scheme}://{attempt.address}", because kafkastore.security.protocol is '
        f"{protocol}{rest}",
        location=attempt.where,
        why="the word before :// is the security protocol, not a listener name",
        hint=f"write {protocol}://{attempt.address}",
        service=name,
        edits=(edit,) if edit else (),
    )


def _severity(attempt: Attempt) -> Severity:
    return SEVERITY if attempt.client.active else Severity.WARNING


def _all_left_out(dependent: KafkaClient, protocol: str) -> bool:
    return all(told.scheme not in ("", protocol) for told in dependent.bootstraps)
