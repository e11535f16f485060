"""A listener is advertised but not bound.

Why: Every name in advertised.listeners must also be in listeners. The reverse is allowed: a listener need not be
advertised.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092,OTHER://kafka:19092  # <- here
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,OTHER:PLAINTEXT

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:9092,OTHER://:19092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092,OTHER://kafka:19092
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,OTHER:PLAINTEXT

Seen: requirement failed: advertised.listeners listener names must be equal to or a subset of the ones defined in
    listeners.

Sources: KafkaConfig.validateValues (3.9, 4.x).
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.repairs import append_item, replace_text
from netdiag.findings import Edit, Finding, Related, Severity
from netdiag.kafka.listeners import ListenerEntry, well_formed

ID = "advertised-not-in-listeners"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every advertised name that is not bound."""
    for broker in deployment.configured:
        config = broker.config
        if "listeners" not in config.settings or config.is_unknown("listeners") or not config.is_readable:
            continue
        bound = {entry.endpoint.listener for entry in config.listeners}
        advertised = well_formed(config.advertised_entries)
        told = {entry.endpoint.listener for entry in advertised}
        for entry in advertised:
            name = entry.endpoint.listener
            if name in bound or (name in config.controller_names and not config.is_controller):
                continue
            yield Finding(
                rule=ID,
                severity=SEVERITY,
                message=f'{broker.name} advertises listener "{name}" but does not bind it',
                location=broker.place("advertised.listeners", entry.start, entry.end),
                related=(Related(location=broker.place("listeners"), message="the listeners that the broker binds"),),
                why="a client gets the advertised endpoint that has the name of the listener it connects to",
                hint=f"add {name}://:{entry.endpoint.port} to listeners, or advertise a listener that the broker binds",
                service=broker.name,
                listener=name,
                edits=_edits(broker, entry, told),
                broker_prints="advertised.listeners listener names must be equal to or a subset of the ones defined in "
                "listeners",
            )


def _edits(broker: Broker, entry: ListenerEntry, told: set[str]) -> tuple[Edit, ...]:
    """Bind it where its name is mapped and its port is free; else advertise the one name that is bound instead."""
    config, name = broker.config, entry.endpoint.listener
    bound = [e for e in config.broker_listeners if e.endpoint.listener not in told]
    same_port = [e for e in bound if e.endpoint.port == entry.endpoint.port]
    if len(same_port) == 1 or (len(bound) == 1 and name not in config.protocol_map):
        end = entry.start + len(name)
        return replace_text(broker, "advertised.listeners", entry.start, end, (same_port or bound)[0].endpoint.listener)
    ports = {e.endpoint.port for e in config.listeners}
    if name in config.protocol_map and entry.endpoint.port not in ports:
        return append_item(broker, "listeners", f"{name}://:{entry.endpoint.port}")
    return ()
