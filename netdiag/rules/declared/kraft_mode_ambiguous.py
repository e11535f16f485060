"""A node has settings of both KRaft and ZooKeeper.

Why: A node with process.roles runs in KRaft mode, one without in ZooKeeper mode. A broker with controller listener
names but no roles does not start; a KRaft node ignores zookeeper.connect, except during a migration.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER  # <- here

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092

Seen: requirement failed: controller.listener.names must be empty when not running in KRaft mode: [CONTROLLER]

Sources: KafkaConfig.validateValues (3.1 to 3.9), KAFKA-13456; KIP-866.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.deployment.repairs import remove_property
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.broker_config import Mode
from netdiag.kafka.images.bitnami import Generation, generation
from netdiag.kafka.images.reference import ImageFamily

ID = "kraft-mode-ambiguous"
SEVERITY = Severity.ERROR
_NAMES = "controller.listener.names"
_ZOOKEEPER = "zookeeper.connect"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every node with settings of both modes; a note if the broker ignores one of them."""
    for broker in deployment.configured:
        config = broker.config
        if "zookeeper.metadata.migration.enable" in config.settings or config.is_unknown("process.roles"):
            continue
        if config.mode is Mode.ZOOKEEPER and config.value(_NAMES) and _is_refused(broker):
            yield _finding(
                broker,
                severity=SEVERITY,
                places=(_NAMES, _ZOOKEEPER),
                message=f"{broker.name} sets {_NAMES} but not process.roles, so it runs in ZooKeeper mode",
                hint="set KAFKA_PROCESS_ROLES for KRaft, or remove KAFKA_CONTROLLER_LISTENER_NAMES for ZooKeeper",
                prints=f"{_NAMES} must be empty when not running in KRaft mode",
            )
        elif config.mode is Mode.KRAFT and config.value(_ZOOKEEPER):
            yield _finding(
                broker,
                severity=SEVERITY if _script_refuses(broker) else Severity.NOTE,
                places=(_ZOOKEEPER, "process.roles"),
                message=f"{broker.name} is a KRaft node and sets {_ZOOKEEPER}, which "
                + (f"{broker.member.image} refuses" if _script_refuses(broker) else "it ignores"),
                hint=f"remove {broker.config.settings[_ZOOKEEPER].variable or _ZOOKEEPER}",
                prints="Both KRaft mode and Zookeeper modes are configured" if _script_refuses(broker) else None,
            )


def _script_refuses(broker: Broker) -> bool:
    """Whether Bitnami's script exits at both: that of a release that supports both."""
    config = broker.config
    explicit = config.family is ImageFamily.BITNAMI and generation(config.tag, config.version) is Generation.EXPLICIT
    return explicit and config.is_older_than(4)


def _is_refused(broker: Broker) -> bool:
    version = broker.config.version
    return version is not None and version.at_least(3, 1) and not version.at_least(4)


def _finding(
    broker: Broker, *, severity: Severity, places: tuple[str, str], message: str, hint: str, prints: str | None
) -> Finding:
    at, beside = places
    return Finding(
        rule=ID,
        severity=severity,
        message=message,
        location=broker.place(at),
        related=(Related(location=broker.place(beside), message="the setting of the other mode"),),
        why="a node runs either in KRaft mode or in ZooKeeper mode",
        hint=hint,
        service=broker.name,
        edits=remove_property(broker, at),
        broker_prints=prints,
    )
