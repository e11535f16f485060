"""An address is set that Kafka no longer reads.

Why: host.name, port, advertised.host.name and advertised.port went with Kafka 3.0. The broker takes them for
settings of somebody else and says nothing; only advertised.listeners tells clients where to connect.

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

Seen: nothing: the setting has no effect, and clients are told kafka:9092

Sources: KAFKA-12945 (3.0), KIP-103.
"""

from collections.abc import Iterator

from netdiag.deployment.member import Broker, Deployment
from netdiag.deployment.repairs import drop
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.images.reference import ImageFamily

ID = "removed-address-property"
SEVERITY = Severity.WARNING
_REMOVED = ("advertised.host.name", "advertised.port", "host.name", "port")


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every property that is set; a note where nothing else was meant than what holds anyway."""
    for broker in deployment.configured:
        if broker.config.is_older_than(3) or broker.config.family is ImageFamily.OTHER:
            continue
        for name in _REMOVED:
            if broker.config.value(name):
                yield _finding(broker, name)


def _finding(broker: Broker, name: str) -> Finding:
    advertised = "advertised.listeners" in broker.config.settings
    related = (
        (Related(location=broker.place("advertised.listeners"), message="what clients are told"),) if advertised else ()
    )
    return Finding(
        rule=ID,
        severity=_severity(broker, name, advertised=advertised),
        message=f"{broker.name} sets {name}, which Kafka does not read since 3.0",
        location=broker.place(name),
        related=related,
        why="the property was removed, and unknown ones are ignored",
        hint="remove it and say everything in advertised.listeners",
        service=broker.name,
        edits=drop(broker, name) if advertised else (),
    )


def _severity(broker: Broker, name: str, *, advertised: bool) -> Severity:
    if not advertised:
        return Severity.ERROR if name.startswith("advertised.") else Severity.WARNING
    host = broker.config.value(name)
    hosts = {entry.endpoint.host for entry in broker.config.advertised_listeners}
    return SEVERITY if name == "advertised.host.name" and host not in hosts else Severity.NOTE
