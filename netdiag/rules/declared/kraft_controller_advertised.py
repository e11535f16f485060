"""A controller listener is advertised to clients.

Why: Up to Kafka 3.8 a broker may advertise only broker listeners, because a controller does not serve clients. Since
3.9 a node may advertise its controller listener, for other nodes and not for clients.

Bad:
    services:
      kafka:
        image: apache/kafka:3.8.1
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092,CONTROLLER://kafka:9093  # <- here
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093

Good:
    services:
      kafka:
        image: apache/kafka:3.8.1
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093

Seen: requirement failed: The advertised.listeners config must not contain KRaft controller listeners from
    controller.listener.names when process.roles contains the broker role

Sources: KafkaConfig.validateValues (2.8 to 3.8), KAFKA-13456, KIP-853 (3.9).
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.repairs import remove_entry
from netdiag.findings import Applicability, Edit, Finding, Related, Severity
from netdiag.kafka.listeners import ListenerEntry, MalformedEntry

ID = "kraft-controller-advertised"
SEVERITY = Severity.ERROR
_NAME = "advertised.listeners"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every advertised controller listener; a note if the Kafka version accepts it."""
    for broker in deployment.configured:
        if not broker.config.is_broker or not broker.config.value(_NAME):
            continue
        for entry in broker.config.advertised_controller_listeners:
            yield _finding(broker, entry)


def _finding(broker: Broker, entry: ListenerEntry) -> Finding:
    refused = broker.config.is_older_than(3, 9)
    listener = entry.endpoint.listener
    names = "controller.listener.names"
    return Finding(
        rule=ID,
        severity=SEVERITY if refused else Severity.NOTE,
        message=f'{broker.name} advertises the controller listener "{listener}"',
        location=broker.place(_NAME, entry.start, entry.end),
        related=(Related(location=broker.place(names), message="names it as a controller listener"),),
        why="a client that connects there finds no broker"
        if refused
        else "Kafka accepts this since 3.9 and refuses it before; clients cannot use the listener",
        hint=f"remove {listener} from {_NAME}" if broker.config.advertised_listeners else "advertise a broker listener",
        service=broker.name,
        listener=listener,
        edits=_edits(broker, entry),
        broker_prints=_prints(broker) if refused else None,
    )


def _prints(broker: Broker) -> str:
    if broker.config.is_older_than(3, 1):
        return f"{_NAME} cannot contain any of controller.listener.names"
    return f"The {_NAME} config must not contain KRaft controller listeners from controller.listener.names"


def _edits(broker: Broker, entry: ListenerEntry) -> tuple[Edit, ...]:
    """Take the entry out with one comma, unless the listeners are derived from it or nothing would be left."""
    entries: tuple[ListenerEntry | MalformedEntry, ...] = broker.config.advertised_entries
    if broker.source_of("listeners") is None or not broker.config.advertised_listeners:
        return ()
    return remove_entry(broker, _NAME, entries, entry, Applicability.SAFE)
