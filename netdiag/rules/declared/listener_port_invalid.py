"""The port of a listener is not a valid port number.

Why: A TCP port is a number from 1 to 65535. Kafka's parser accepts any number, and the broker fails later, when it
binds or registers the port. With port 0 the broker binds any free port, which clients cannot know in advance.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:90920  # <- here
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:90920  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_LISTENERS: PLAINTEXT://:9092
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092

Seen: java.lang.IllegalArgumentException: port out of range:90920

Sources: SocketServer.openServerSocket, java.net.InetSocketAddress; ListenerInfo of Kafka's metadata module.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.findings import Finding, Severity
from netdiag.kafka.broker_config import Mode
from netdiag.kafka.images.settings import Provenance
from netdiag.kafka.listeners import ListenerEntry, well_formed

ID = "listener-port-invalid"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every port out of range; a warning for a listener on port 0."""
    for broker in deployment.configured:
        setting = broker.config.settings.get("listeners")
        derived = setting is not None and setting.provenance is Provenance.DERIVED
        for entry in () if derived else broker.config.listeners:
            port = entry.endpoint.port
            if not 0 < port < 65536:
                yield _finding(broker, "listeners", entry, f"port out of range:{port}" if port else None)
        if "advertised.listeners" not in broker.config.settings:
            continue
        for entry in well_formed(broker.config.advertised_entries):
            # The broker replaces 0 by the port that it binds.
            if not 0 <= entry.endpoint.port < 65536:
                bound = f"port out of range:{entry.endpoint.port}"
                yield _finding(broker, "advertised.listeners", entry, bound if derived else _serialized(broker, entry))


def _finding(broker: Broker, name: str, entry: ListenerEntry, prints: str | None) -> Finding:
    port = entry.endpoint.port
    said = "binds any free port, which cannot be published" if port == 0 else "is not a port number"
    return Finding(
        rule=ID,
        severity=SEVERITY if port else Severity.WARNING,
        message=f'"{port}" in {name} of {broker.name} {said}',
        location=broker.place(name, entry.port_start, entry.port_end),
        why="ports are numbers from 1 to 65535",
        hint="set a port from 1 to 65535",
        service=broker.name,
        listener=entry.endpoint.listener,
        broker_prints=prints,
    )


def _serialized(broker: Broker, entry: ListenerEntry) -> str | None:
    """What a KRaft broker logs when it registers the port; one with ZooKeeper registers any number."""
    if broker.config.mode is not Mode.KRAFT or broker.config.is_older_than(3, 7):
        return None
    kind = "negative" if entry.endpoint.port < 0 else "invalid"
    return f"Cannot serialize {kind} port number {entry.endpoint.port}"
