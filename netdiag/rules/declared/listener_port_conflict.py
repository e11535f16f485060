"""Two listeners of one broker bind the same port.

Why: every listener needs a socket of its own; the broker checks the ports before it opens any. Since Kafka 3.6
one IPv4 and one IPv6 literal may share a port.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: INTERNAL://0.0.0.0:9092,OTHER://0.0.0.0:9092  # <- here
          KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:9092,OTHER://kafka:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT,OTHER:PLAINTEXT
          KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: INTERNAL://0.0.0.0:29092,OTHER://0.0.0.0:9092
          KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:29092,OTHER://kafka:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT,OTHER:PLAINTEXT
          KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL

Seen: requirement failed: Each listener must have a different port, listeners: ...

Sources: CoreUtils.checkDuplicateListenerPorts (3.9), KAFKA-13299 (3.6).
"""

import ipaddress
from collections.abc import Iterator

from netdiag.deployment.member import Deployment
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.listeners import ListenerEntry

ID = "listener-port-conflict"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every listener whose port an earlier one has."""
    for broker in deployment.configured:
        first: dict[int, ListenerEntry] = {}
        for entry in broker.config.listeners:
            if entry.endpoint.port == 0:
                continue
            known = first.setdefault(entry.endpoint.port, entry)
            if known is entry or _one_of_each_family(known, entry):
                continue
            prints = "Each listener must have a different port, listeners:"
            if _both_literals(known, entry):
                prints = "If you have two listeners on the same port then one needs to be IPv4 and the other IPv6"
            yield Finding(
                rule=ID,
                severity=SEVERITY,
                message=f"{entry.endpoint.listener} of {broker.name} binds port {entry.endpoint.port}, "
                f"which {known.endpoint.listener} already has",
                location=broker.place("listeners", entry.start, entry.end),
                related=(
                    Related(
                        location=broker.place("listeners", known.start, known.end), message="the port is taken here"
                    ),
                ),
                why="every listener needs a port of its own inside the container",
                hint=f"bind {entry.endpoint.listener} to another port and publish that one",
                service=broker.name,
                listener=entry.endpoint.listener,
                broker_prints=prints,
            )


def _family(entry: ListenerEntry) -> int | None:
    try:
        return ipaddress.ip_address(entry.endpoint.host).version
    except ValueError:
        return None


def _both_literals(one: ListenerEntry, other: ListenerEntry) -> bool:
    return _family(one) is not None and _family(other) is not None


def _one_of_each_family(one: ListenerEntry, other: ListenerEntry) -> bool:
    return {_family(one), _family(other)} == {4, 6}
