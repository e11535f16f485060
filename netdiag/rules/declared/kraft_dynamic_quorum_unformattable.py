"""A controller has no voters, and its image cannot format storage without them.

Why: With controller.quorum.bootstrap.servers, the members of the quorum are written to the storage when it is
formatted. The start scripts of apache/kafka and of Confluent's images format the storage without naming the members,
which the storage tool refuses. The finding is an error for Kafka 3.9 and Confluent Platform 7.9, and a warning for
later images, which may change this.

Bad:
    services:
      kafka:
        image: apache/kafka:3.9.1
        environment:
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_BOOTSTRAP_SERVERS: kafka:9093  # <- here

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

Seen: Because controller.quorum.voters is not set on this controller, you must specify one of the following:
    --standalone, --initial-controllers, or --no-initial-controllers.

Sources: StorageTool (3.9 and newer), KIP-853, KAFKA-18737.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.findings import Finding, Severity
from netdiag.kafka.images.reference import ImageFamily

ID = "kraft-dynamic-quorum-unformattable"
SEVERITY = Severity.ERROR
_BOOTSTRAP = "controller.quorum.bootstrap.servers"
_VOTERS = "controller.quorum.voters"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every controller whose image would format storage without the members of its quorum."""
    for broker in deployment.configured:
        config = broker.config
        if config.family not in (ImageFamily.APACHE, ImageFamily.CONFLUENT) or not config.is_controller:
            continue
        if _VOTERS in config.settings and (config.is_unknown(_VOTERS) or config.value(_VOTERS)):
            continue
        if config.value(_BOOTSTRAP) and not config.is_older_than(3, 9) and not broker.is_configured_by_file:
            yield _finding(broker)


def _finding(broker: Broker) -> Finding:
    version = broker.config.version
    certain = version is not None and (version.major, version.minor) == (3, 9)
    return Finding(
        rule=ID,
        severity=SEVERITY if certain else Severity.WARNING,
        message=f"{broker.name} sets {_BOOTSTRAP} without {_VOTERS}, so its image cannot format the storage of a "
        f"controller",
        location=broker.place(_BOOTSTRAP),
        why="without controller.quorum.voters, the storage tool must be told the first members of the quorum",
        hint="set KAFKA_CONTROLLER_QUORUM_VOTERS to ID@HOST:PORT of every controller instead",
        service=broker.name,
        broker_prints=f"Because {_VOTERS} is not set on this controller" if certain else None,
    )
