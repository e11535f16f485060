"""A KRaft controller has no controller listener.

Why: A node with the controller role must bind a listener that controller.listener.names contains. Listeners that an
image derives from advertised listeners never include it, and Kafka compares the names case-sensitively.

Bad:
    services:
      kafka:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_LISTENERS: PLAINTEXT://:9092  # <- here
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
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

Seen: requirement failed: controller.listener.names must contain at least one value appearing in the 'listeners'
    configuration when running the KRaft controller role

Sources: KafkaConfig.validateValues (3.1 and newer), KAFKA-13456.
"""

from collections.abc import Iterator

from netdiag.deployment.misread_settings import ignored_aliases
from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.repairs import bind_controller
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.images.settings import Provenance

ID = "kraft-controller-listener-missing"
SEVERITY = Severity.ERROR
_PRINTS = (
    "controller.listener.names must contain at least one value appearing in the 'listeners' configuration when running "
    "the KRaft controller role"
)


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every controller that binds none of its names, and for every name that it does not bind."""
    for broker in deployment.configured:
        config = broker.config
        if not config.is_controller or config.is_unknown("listeners") or not config.is_readable:
            continue
        names = config.controller_names
        bound = {entry.endpoint.listener for entry in config.listeners}
        if config.is_unknown("controller.listener.names"):
            continue
        if "CONTROLLER_LISTENER_NAMES" in ignored_aliases(broker):
            # image-env-alias-ignored reports the cause.
            continue
        if bound & set(names):
            yield from _left_over(broker, [name for name in names if name.strip() not in bound])
            continue
        setting = config.settings.get("listeners")
        derived = setting is not None and setting.provenance is Provenance.DERIVED
        said = " (derived from KAFKA_ADVERTISED_LISTENERS)" if derived else ""
        related: tuple[Related, ...] = ()
        if "controller.listener.names" in config.settings:
            related = (Related(location=broker.place("controller.listener.names"), message="the names to bind"),)
        wanted = names[0].strip().upper() if names else "CONTROLLER"
        yield Finding(
            rule=ID,
            severity=SEVERITY,
            message=f"{broker.name} is a KRaft controller, but its listeners{said} include no controller listener",
            location=broker.place("listeners"),
            related=related,
            why="the quorum uses a listener that controller.listener.names contains, spelled the same way",
            hint=f"add {wanted}://:PORT to KAFKA_LISTENERS, with the port that controller.quorum.voters has",
            service=broker.name,
            listener=wanted,
            edits=bind_controller(broker, wanted),
            broker_prints=config.without_controller_names(_PRINTS),
        )


def _left_over(broker: Broker, names: list[str]) -> Iterator[Finding]:
    """Names without a listener, beside one that has one."""
    if broker.config.is_older_than(3, 1):
        return
    for name in names:
        yield Finding(
            rule=ID,
            severity=SEVERITY,
            message=f'{broker.name} names the controller listener "{name}", but no listener has that name',
            location=broker.place("controller.listener.names"),
            related=(Related(location=broker.place("listeners"), message="the listeners that it binds"),),
            why="a node with the controller role must bind every listener that controller.listener.names contains",
            hint=f"remove {name} from KAFKA_CONTROLLER_LISTENER_NAMES, or add {name.strip().upper()}://:PORT to "
            "KAFKA_LISTENERS",
            service=broker.name,
            listener=name.strip().upper(),
            broker_prints="controller.listener.names must only contain values appearing in the 'listeners' "
            "configuration when running the KRaft controller role",
        )
