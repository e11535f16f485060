"""A variable replaces the image's entire bundled configuration.

Why: apache/kafka uses its bundled server.properties only if no KAFKA_ variable is set. The first variable replaces the
whole file, including process.roles, voters and listeners.

Bad:
    services:
      kafka:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092  # <- here

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

Seen: 3.x: Missing required configuration `zookeeper.connect` which has no default value.
    4.x: Missing required configuration "process.roles" which has no default value.

Sources: KafkaDockerWrapper.prepareServerConfigs, StorageTool, KAFKA-18331.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.findings import Finding, Severity
from netdiag.kafka.images.reference import ImageFamily

ID = "image-defaults-dropped"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every apache/kafka broker with variables but without process.roles."""
    for broker in deployment.brokers:
        config = broker.config
        if broker.is_partial or broker.config_file is not None:
            # The mounted file replaces the bundled one, with or without variables.
            continue
        if config.family is not ImageFamily.APACHE or not config.settings or "process.roles" in config.settings:
            continue
        if config.value("zookeeper.connect"):
            # A node that is meant for ZooKeeper has another defect.
            continue
        first = min(config.settings.values(), key=_importance)
        yield Finding(
            rule=ID,
            severity=SEVERITY,
            message=f"{first.variable} replaces the configuration bundled with {broker.member.image}, "
            "and process.roles is not set",
            location=broker.place(first.name),
            why="the first KAFKA_ variable replaces the whole bundled file, including its process.roles and listeners",
            hint="also set KAFKA_NODE_ID, KAFKA_PROCESS_ROLES, KAFKA_LISTENERS with a controller listener, "
            "KAFKA_CONTROLLER_LISTENER_NAMES and KAFKA_CONTROLLER_QUORUM_VOTERS",
            service=broker.name,
            broker_prints=_prints(broker),
        )


def _importance(setting: object) -> tuple[bool, str]:
    name = getattr(setting, "name", "")
    return (not name.startswith("advertised."), name)


def _prints(broker: Broker) -> str:
    version = broker.config.version
    if version is not None and not version.at_least(4):
        # Without roles a 3.x broker runs in ZooKeeper mode.
        return "Missing required configuration `zookeeper.connect` which has no default value."
    return 'Missing required configuration "process.roles" which has no default value.'
