"""A bootstrap address starts with a listener name or protocol.

Why: A bootstrap address is host:port. The Java client and kafka-python ignore a prefix up to ://; librdkafka reads it
as a security protocol and refuses any other word; KafkaJS, aiokafka and most other clients read it as part of the host
name. The finding is an error if the client is known to refuse the prefix, a note if the prefix is a security protocol,
and a warning otherwise. URLs with kafka:// or tcp:// and clients known to be Java clients are not reported.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: INTERNAL://:29092
          KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:29092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT
          KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL
      app:
        image: example/app:1
        environment:
          KAFKA_BROKERS: INTERNAL://kafka:29092  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: INTERNAL://:29092
          KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:29092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT
          KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL
      app:
        image: example/app:1
        environment:
          KAFKA_BROKERS: kafka:29092

Seen: Broker name "INTERNAL://kafka:29092" parse error: unsupported protocol "INTERNAL"

Sources: Utils.HOST_PORT_PATTERN of Kafka's clients; rd_kafka_broker_name_parse of librdkafka.
"""

from collections.abc import Iterator

from netdiag.deployment.clients import Attempt, attempts, severity_of
from netdiag.deployment.model.deployment import Deployment
from netdiag.findings import Finding, Severity
from netdiag.kafka.listeners import SECURITY_PROTOCOLS
from netdiag.patterns import regex

ID = "dependent-bootstrap-scheme"
SEVERITY = Severity.WARNING

_JAVA_SETTINGS = regex(
    r"(?i)(?:-D\S*|(?:CONNECT|KSQL|SCHEMA_REGISTRY|KAFKA_REST|CONTROL_CENTER|CONFLUENT|KAFKA_CONFLUENT|LENSES|SPRING|QUARKUS"
    r"|MP_MESSAGING|STREAMS|KAFKA_CLUSTERS|CDK)[_.].*|KAFKA_BROKERCONNECT|.* in (?:AKHQ|SPRING|JAVA)_\w+"
    r"|kafkastore\..*)"
)
_JAVA_IMAGES = regex(r"debezium|kafka-connect|kafdrop|akhq|kafka-ui|cp-[a-z-]*:|ksqldb|conduktor")
_CONSOLE = regex(r"(?:^|/)(?:redpandadata|vectorized|cloudhut)/(?:console|kowl)(?:[:@]|$)")


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every bootstrap address with a scheme that its client may not accept."""
    for attempt in attempts(deployment):
        if attempt.entry.scheme and not attempt.entry.scheme.lower().startswith(("kafka", "tcp")):
            found = _severity(deployment, attempt)
            if found is not None:
                yield _finding(attempt, found)


def _severity(deployment: Deployment, attempt: Attempt) -> Severity | None:
    dependent, scheme = attempt.client, attempt.entry.scheme.upper()
    if _CONSOLE.search(attempt.member.image):
        return severity_of(deployment, attempt)
    if dependent.tool in ("kcat", "kafkacat"):
        return None if scheme == (dependent.protocol or "PLAINTEXT") else severity_of(deployment, attempt)
    if dependent.tool.startswith(("kafka-", "ksql-")) or _JAVA_IMAGES.search(attempt.member.image):
        return None
    if _JAVA_SETTINGS.fullmatch(dependent.setting):
        return None
    return Severity.NOTE if scheme in SECURITY_PROTOCOLS else Severity.WARNING


def _finding(attempt: Attempt, found: Severity) -> Finding:
    told, declared = attempt.entry, attempt.client.declared
    edit = declared.edit(told.start, told.start + len(told.scheme) + 3, "")
    return Finding(
        rule=ID,
        severity=found,
        message=f'{attempt.member.name} bootstraps from "{told.scheme}://{attempt.address}", which has a prefix',
        location=attempt.where,
        why="a bootstrap address is host:port, and only some clients ignore a prefix",
        hint=f"write {attempt.address}",
        service=attempt.member.name,
        edits=(edit,) if edit else (),
    )
