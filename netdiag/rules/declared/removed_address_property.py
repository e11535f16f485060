"""Kafka no longer reads an address property that is set.

Why: Kafka 3.0 removed host.name, port, advertised.host.name and advertised.port. The broker ignores them like any
unknown property, without an error; only advertised.listeners sets the address for clients.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_HOST_NAME: broker.example.org  # <- here
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:9092,OTHER://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092,OTHER://broker.example.org:9093
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,OTHER:PLAINTEXT

Seen: nothing: the setting has no effect, and clients get kafka:9092

Sources: KAFKA-12945 (3.0), KIP-103.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.repairs import remove_property
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.images.reference import ImageFamily

ID = "removed-address-property"
SEVERITY = Severity.WARNING
_REMOVED = ("advertised.host.name", "advertised.port", "host.name", "port")


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every such property; a note if the value that applies is the same."""
    for broker in deployment.configured:
        if broker.config.is_older_than(3) or broker.config.family is ImageFamily.OTHER:
            continue
        for name in _REMOVED:
            if broker.config.value(name):
                yield _finding(broker, name)


def _finding(broker: Broker, name: str) -> Finding:
    advertised = "advertised.listeners" in broker.config.settings
    related = (
        (Related(location=broker.place("advertised.listeners"), message="the address that clients get"),)
        if advertised
        else ()
    )
    return Finding(
        rule=ID,
        severity=_severity(broker, name, advertised=advertised),
        message=f"{broker.name} sets {name}, which Kafka ignores since 3.0",
        location=broker.place(name),
        related=related,
        why="Kafka 3.0 removed the property, and brokers ignore unknown properties",
        hint="remove it" if advertised else "remove it, and set advertised.listeners instead",
        service=broker.name,
        edits=remove_property(broker, name) if advertised else (),
    )


def _severity(broker: Broker, name: str, *, advertised: bool) -> Severity:
    if not advertised:
        return Severity.ERROR if name.startswith("advertised.") else Severity.WARNING
    host = broker.config.value(name)
    hosts = {entry.endpoint.host for entry in broker.config.advertised_listeners}
    return SEVERITY if name == "advertised.host.name" and host not in hosts else Severity.NOTE
