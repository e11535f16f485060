"""The protocol map has no entry for a listener that needs none by default.

Why: Without listener.security.protocol.map, the listeners PLAINTEXT, SSL, SASL_PLAINTEXT and SASL_SSL and the
controller listeners of a KRaft node have a default protocol. Setting the map, even to an empty value, discards Kafka's
defaults, so the map needs an entry for each of them too. listener-name-unmapped reports names that have no default.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,OTHER://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,OTHER://kafka:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: OTHER:PLAINTEXT  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:29092,OTHER://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:29092,OTHER://kafka:9092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: OTHER:PLAINTEXT,PLAINTEXT:PLAINTEXT

Seen: Error creating broker listeners from '...': No security protocol defined for listener PLAINTEXT

Sources: KafkaConfig.effectiveListenerSecurityProtocolMap, KIP-103, KAFKA-13456.
"""

from collections.abc import Iterator

from netdiag.deployment.misread_settings import is_quoted
from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.findings import Edit, Finding, Related, Severity
from netdiag.kafka.listeners import ListenerEntry, MalformedEntry, well_formed

ID = "protocol-map-drops-defaults"
SEVERITY = Severity.ERROR
_MAP = "listener.security.protocol.map"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every listener whose default protocol the map discards."""
    for broker in deployment.configured:
        config = broker.config
        if config.value(_MAP) is None or any(isinstance(e, MalformedEntry) for e in config.protocol_map_entries):
            continue
        reported: set[str] = set()
        for name, entry in _uses(broker):
            listener = entry.endpoint.listener
            if listener in config.dropped_defaults and listener not in reported:
                reported.add(listener)
                yield _finding(broker, name, entry, config.dropped_defaults[listener])


def _uses(broker: Broker) -> Iterator[tuple[str, ListenerEntry]]:
    lists = (("listeners", broker.config.listeners), ("advertised.listeners", broker.config.advertised_entries))
    for name, entries in lists:
        if not is_quoted(broker.config.value(name) or ""):
            yield from ((name, entry) for entry in well_formed(entries))


def _finding(broker: Broker, name: str, entry: ListenerEntry, protocol: str) -> Finding:
    listener = entry.endpoint.listener
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"{_MAP} of {broker.name} has no entry for {listener}",
        location=broker.place(_MAP),
        related=(
            Related(location=broker.place(name, entry.start, entry.end), message="the listener without a protocol"),
        ),
        why="setting the map discards Kafka's defaults",
        hint=f"add {listener}:{protocol} to {_MAP}",
        service=broker.name,
        listener=listener,
        edits=_edits(broker, listener, protocol),
        broker_prints=f"No security protocol defined for listener {listener}",
    )


def _edits(broker: Broker, listener: str, protocol: str) -> tuple[Edit, ...]:
    """Append the default after the last pair."""
    value = broker.config.value(_MAP) or ""
    end = len(value.rstrip().rstrip(","))
    return broker.edit(_MAP, end - 1, end, f"{value[end - 1]},{listener}:{protocol}") if end else ()
