"""A node binds a listener that does not fit its role.

Why: A node with only the controller role may bind only controller listeners. A node with only the broker role names the
controller listener but must not bind it.

Bad:
    services:
      controller:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: controller
          KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093  # <- here
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@controller:9093

Good:
    services:
      controller:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: controller
          KAFKA_LISTENERS: CONTROLLER://:9093
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@controller:9093

Seen: requirement failed: The listeners config must only contain KRaft controller listeners from
    controller.listener.names when process.roles=controller

Sources: KafkaConfig.validateValues (3.1 and newer), KAFKA-13456.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.repairs import remove_entry
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.images.settings import Provenance
from netdiag.kafka.listeners import ListenerEntry

ID = "kraft-controller-listener-wrong-role"
SEVERITY = Severity.ERROR
_NAMES = "controller.listener.names"
_CONTROLLER = f"must only contain KRaft controller listeners from {_NAMES} when process.roles=controller"
_BROKER = (
    f"{_NAMES} must not contain a value appearing in the 'listeners' configuration when running KRaft with just the "
    "broker role"
)


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every listener that the only role of its node rules out."""
    for broker in deployment.configured:
        config = broker.config
        if not config.is_readable or not config.controller_listeners or config.is_older_than(3, 1):
            continue
        if config.is_controller_only:
            for entry in config.broker_listeners:
                yield _finding(broker, entry, role="controller", prints=_CONTROLLER)
        elif config.is_broker_only and not _is_said_by_advertised(broker):
            for entry in config.controller_listeners:
                yield _finding(broker, entry, role="broker", prints=_BROKER)


def _is_said_by_advertised(broker: Broker) -> bool:
    """Whether the listeners are derived from advertised ones, which the Kafka version refuses first."""
    setting = broker.config.settings.get("listeners")
    derived = setting is not None and setting.provenance is Provenance.DERIVED
    return derived and broker.config.is_older_than(3, 9)


def _finding(broker: Broker, entry: ListenerEntry, *, role: str, prints: str) -> Finding:
    listener = entry.endpoint.listener
    kind = "a controller listener" if role == "broker" else "which is not a controller listener"
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f'{broker.name} has only the {role} role, but binds "{listener}", {kind}',
        location=broker.place("listeners", entry.start, entry.end),
        related=(Related(location=broker.place(_NAMES), message="the names of controller listeners"),),
        why="clients and brokers connect to brokers, and quorum nodes connect to controllers",
        hint=f"remove {listener} from listeners, or add the other role to process.roles",
        service=broker.name,
        listener=listener,
        edits=remove_entry(broker, "listeners", broker.config.listener_entries, entry),
        broker_prints=prints,
    )
