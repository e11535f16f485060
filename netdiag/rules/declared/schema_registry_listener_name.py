"""The schema registry is given endpoints that it leaves out.

Why: in kafkastore.bootstrap.servers the word before :// is the security protocol, and the registry leaves out every
endpoint whose word is not kafkastore.security.protocol (PLAINTEXT where nothing is set). A listener's name there
leaves it without a broker, and it ends.

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

from netdiag.deployment.clients import Attempt, overlooked, registry_protocol
from netdiag.deployment.member import Dependent, Deployment
from netdiag.findings import Finding, Severity

ID = "schema-registry-listener-name"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every endpoint that the registry leaves out; a note where it has another."""
    for attempt in overlooked(deployment):
        protocol = registry_protocol(attempt)
        if protocol is not None:
            yield _finding(attempt, protocol)


def _finding(attempt: Attempt, protocol: str) -> Finding:
    told, name = attempt.told, attempt.client.name
    edit = attempt.dependent.declared.edit(told.start, told.start + len(told.scheme), protocol)
    rest = ", and it has no other" if _all_left_out(attempt.dependent, protocol) else ""
    return Finding(
        rule=ID,
        severity=_severity(attempt) if rest else Severity.NOTE,
        message=f"{name} leaves out {told.scheme}://{attempt.address}, because kafkastore.security.protocol is "
        f"{protocol}{rest}",
        location=attempt.where,
        why="the word before :// is taken for the security protocol, not for the name of a listener",
        hint=f"write {protocol}://{attempt.address}",
        service=name,
        edits=(edit,) if edit else (),
    )


def _severity(attempt: Attempt) -> Severity:
    return SEVERITY if attempt.dependent.active else Severity.WARNING


def _all_left_out(dependent: Dependent, protocol: str) -> bool:
    return all(told.scheme not in ("", protocol) for told in dependent.bootstraps)
