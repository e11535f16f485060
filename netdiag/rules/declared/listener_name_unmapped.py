"""A listener name has no security protocol.

Why: Only PLAINTEXT, SSL, SASL_PLAINTEXT and SASL_SSL have a protocol by default; every other name needs an entry in
listener.security.protocol.map. protocol-map-drops-defaults reports a listener whose default the map discards, and
listener-name-odd a name with a blank, a semicolon or a second scheme.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: INTERNAL://:29092,OTHER://:9092  # <- here
          KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:29092,OTHER://kafka:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT
          KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: INTERNAL://:29092,OTHER://:9092
          KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:29092,OTHER://kafka:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT,OTHER:PLAINTEXT
          KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL

Seen: Error creating broker listeners from '...': No security protocol defined for listener OTHER

Sources: SocketServerConfigs.listenerListToEndPoints, KIP-103, KAFKA-13456.
"""

from collections.abc import Iterator

from netdiag.deployment.misread_settings import is_quoted
from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.repairs import map_listener
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.listeners import ListenerEntry, MalformedEntry, is_odd_name, well_formed

ID = "listener-name-unmapped"
SEVERITY = Severity.ERROR
_MAP = "listener.security.protocol.map"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every unmapped name, at its first use in the lists."""
    for broker in deployment.configured:
        if broker.config.is_unknown(_MAP) or any(
            isinstance(entry, MalformedEntry) for entry in broker.config.protocol_map_entries
        ):
            continue
        mapped = broker.config.protocol_map
        reported: set[str] = set()
        for name, entry in _uses(broker):
            listener = entry.endpoint.listener
            if listener in mapped or listener in reported or is_quoted(broker.config.value(name) or ""):
                continue
            if listener in broker.config.dropped_defaults or is_odd_name(listener):
                continue
            reported.add(listener)
            yield _finding(broker, name, entry)


def _uses(broker: Broker) -> Iterator[tuple[str, ListenerEntry]]:
    for entry in broker.config.listeners:
        yield "listeners", entry
    for entry in well_formed(broker.config.advertised_entries):
        yield "advertised.listeners", entry


def _finding(broker: Broker, name: str, entry: ListenerEntry) -> Finding:
    listener = entry.endpoint.listener
    given = broker.config.settings.get(_MAP)
    related = (Related(location=broker.place(_MAP), message="the map has no entry for it"),) if given else ()
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f'listener "{listener}" of {broker.name} has no security protocol',
        location=broker.place(name, entry.start, entry.end),
        related=related,
        why="the map names the security protocol of every listener, and setting it discards Kafka's defaults"
        if given
        else "Kafka's default map holds only the names of security protocols: PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL",
        hint=f"add {listener}:PLAINTEXT to {_MAP}",
        service=broker.name,
        listener=listener,
        edits=map_listener(broker, listener),
        broker_prints=f"No security protocol defined for listener {listener}",
    )
