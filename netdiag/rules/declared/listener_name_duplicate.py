"""A list names the same listener twice.

Why: Clients and brokers find a listener by its name, so a list may contain each name only once. Names are not
case-sensitive.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092,PLAINTEXT://kafka:9093  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: INTERNAL://:9092,OTHER://:9093
          KAFKA_ADVERTISED_LISTENERS: INTERNAL://kafka:9092,OTHER://kafka:9093
          KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: INTERNAL:PLAINTEXT,OTHER:PLAINTEXT
          KAFKA_INTER_BROKER_LISTENER_NAME: INTERNAL

Seen: requirement failed: Each listener must have a different name, listeners: ...

Sources: CoreUtils.validate (3.9), SocketServerConfigs (4.x).
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.images.settings import Provenance
from netdiag.kafka.listeners import ListenerEntry, well_formed

ID = "listener-name-duplicate"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every entry that repeats a name of the list."""
    for broker in deployment.configured:
        yield from _repeats(broker, "advertised.listeners", well_formed(broker.config.advertised_entries))
        setting = broker.config.settings.get("listeners")
        if setting is not None and setting.provenance is not Provenance.DERIVED:
            yield from _repeats(broker, "listeners", broker.config.listeners)


def _repeats(broker: Broker, name: str, entries: tuple[ListenerEntry, ...]) -> Iterator[Finding]:
    if name not in broker.config.settings:
        return
    first: dict[str, ListenerEntry] = {}
    for entry in entries:
        known = first.setdefault(entry.endpoint.listener, entry)
        if known is not entry:
            yield Finding(
                rule=ID,
                severity=SEVERITY,
                message=f'{name} of {broker.name} contains listener "{entry.endpoint.listener}" twice',
                location=broker.place(name, entry.start, entry.end),
                related=(
                    Related(
                        location=broker.place(name, known.start, known.end), message="the first listener with that name"
                    ),
                ),
                why="a list may contain each listener name only once",
                hint="give each listener its own name, and map both names in listener.security.protocol.map",
                service=broker.name,
                listener=entry.endpoint.listener,
                broker_prints="Each listener must have a different name, listeners:",
            )
