"""A broker advertises only controller listeners.

Why: Clients connect to advertised broker listeners. If controller.listener.names contains every advertised listener,
clients have no address to connect to.

Bad:
    services:
      kafka:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: CONTROLLER://kafka:9093  # <- here
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093

Good:
    services:
      kafka:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093

Seen: There must be at least one broker advertised listener. Perhaps all listeners appear in
    controller.listener.names?

Sources: KafkaConfig.validateValues, KAFKA-13456, KIP-853.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.repairs import service_name, set_property
from netdiag.findings import Edit, Finding, Related, Severity
from netdiag.kafka.broker_config import Mode

ID = "kraft-no-broker-advertised"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every KRaft broker whose endpoints all belong to the controller."""
    for broker in deployment.configured:
        config = broker.config
        if config.mode is not Mode.KRAFT or not config.is_broker or not config.is_readable:
            continue
        written = bool(config.value("advertised.listeners"))
        name = "advertised.listeners" if written else "listeners"
        entries = config.advertised_controller_listeners if written else config.controller_listeners
        if config.is_unknown("advertised.listeners") or config.advertised_listeners or not entries:
            continue
        if written and config.is_older_than(3, 9):
            # kraft-controller-advertised reports it first.
            continue
        yield Finding(
            rule=ID,
            severity=SEVERITY,
            message=f"{broker.name} is a broker, but {name} contains only controller listeners",
            location=broker.place(name, entries[0].start, entries[-1].end),
            related=(
                Related(
                    location=broker.place("controller.listener.names"), message="names them as controller listeners"
                ),
            ),
            why="clients do not use listeners that controller.listener.names contains",
            hint="add a broker listener, for example PLAINTEXT://:9092, and advertise it",
            service=broker.name,
            edits=_edits(broker) if written else (),
            broker_prints="Perhaps all listeners appear in controller.listener.names?",
        )


def _edits(broker: Broker) -> tuple[Edit, ...]:
    told = [f"{e.endpoint.listener}://{service_name(broker)}:{e.endpoint.port}" for e in broker.config.broker_listeners]
    return (
        set_property(broker, "advertised.listeners", ",".join(told)) if told and broker.source_of("listeners") else ()
    )
