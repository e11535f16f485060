"""The broker advertises a wildcard address that Kafka does not reject.

Why: Kafka refuses to advertise 0.0.0.0 but accepts :: and 0, which mean the same: all addresses to the broker that
binds them, and the client's own machine to the client that connects to them.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://[::]:9092  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092

Seen: Connection to node 1 (/[0:0:0:0:0:0:0:0]:9092) could not be established.

Sources: KafkaConfig.validateValues compares with 0.0.0.0 only (KAFKA-4260); RFC 4291, 2.5.2.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Deployment
from netdiag.deployment.repairs import advertise, service_name
from netdiag.findings import Finding, Severity

ID = "advertised-wildcard-uncaught"
SEVERITY = Severity.ERROR
_UNCAUGHT = frozenset({"0", "::", "0:0:0:0:0:0:0:0", "000.000.000.000", "0.0", "0.0.0"})


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every broker endpoint on a wildcard other than 0.0.0.0, written or inherited from listeners."""
    for broker in deployment.configured:
        if not broker.config.is_broker:
            continue
        written = bool(broker.config.value("advertised.listeners"))
        name = "advertised.listeners" if written else "listeners"
        for entry in broker.config.advertised_listeners:
            host = entry.endpoint.host
            if host not in _UNCAUGHT:
                continue
            inherited = "" if written else ", inherited from listeners because advertised.listeners is not set"
            yield Finding(
                rule=ID,
                severity=SEVERITY,
                message=f'listener {entry.endpoint.listener} of {broker.name} advertises "{host}"{inherited}',
                location=broker.place(name, entry.host_start, entry.host_end),
                why="a client that connects to a wildcard address reaches its own machine; Kafka rejects only 0.0.0.0",
                hint=f"advertise a name that clients resolve, for example {entry.endpoint.listener}://"
                f"{broker.member.service or broker.name}:{entry.endpoint.port} for containers",
                service=broker.name,
                listener=entry.endpoint.listener,
                edits=advertise(broker, entry, service_name(broker)),
            )
