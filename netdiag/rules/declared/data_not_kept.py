"""What is mounted for a broker's data holds none of it.

Why: The Dockerfiles of these images declare the data directory as a VOLUME. If nothing is mounted at exactly that path,
the engine mounts an anonymous volume there, which covers what is mounted further up. `docker compose down` leaves it
behind, the next `docker compose up` makes another one, and the broker starts without data. It is the same with
apache/kafka as long as `KAFKA_LOG_DIRS` does not name the path: Kafka writes to a folder in `/tmp`.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          CLUSTER_ID: 5L6g3nShT-eMCtK--X86sw
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
          KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
        volumes:
          - kafka:/var/lib/kafka  # <- here
    volumes:
      kafka:

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          CLUSTER_ID: 5L6g3nShT-eMCtK--X86sw
          KAFKA_NODE_ID: 1
          KAFKA_PROCESS_ROLES: broker,controller
          KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
          KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
          KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
        volumes:
          - kafka:/var/lib/kafka/data
    volumes:
      kafka:

Seen: topics and committed offsets are gone after `docker compose down` and `docker compose up`

Sources: Dockerfile reference, VOLUME; the Dockerfiles of cp-kafka, apache/kafka and debezium/kafka; Kafka's default of
log.dir.
"""

from collections.abc import Iterator
from pathlib import PurePosixPath

from netdiag.deployment.model.deployment import Broker, Deployment, State, Storage
from netdiag.findings import Finding, Severity
from netdiag.kafka.images.families import FAMILIES
from netdiag.kafka.images.reference import ImageFamily

ID = "data-not-kept"
SEVERITY = Severity.WARNING

# Where people mount what is to keep the data, because the image has a VOLUME there, which it does not use by itself.
_OFFERED = "/var/lib/kafka/data"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every broker with a mount that was meant for its data and holds none."""
    for broker in deployment.configured:
        if broker.member.state is State.DECLARED and not any(map(broker.storage_of, broker.data_directories)):
            found = _covered(broker) or _unused(broker)
            if found is not None:
                yield found


def _covered(broker: Broker) -> Finding | None:
    """The data directory is in an anonymous volume of the image."""
    volumes = set(map(PurePosixPath, FAMILIES[broker.config.family].volumes))
    for directory in map(PurePosixPath, broker.data_directories):
        at = broker.member.mounted_at(str(directory))
        above = [storage for storage in broker.member.storage if directory.is_relative_to(storage.target)]
        if at in volumes and above:
            storage = max(above, key=lambda storage: len(storage.target))
            return _finding(broker, storage, f"an anonymous volume covers {at}", f"mount it at {at}")
    return None


def _unused(broker: Broker) -> Finding | None:
    """Nothing says that the data are to be where something is mounted for them."""
    is_said = broker.is_configured_by_file or not broker.config.settings.keys().isdisjoint(("log.dirs", "log.dir"))
    if broker.config.family is not ImageFamily.APACHE or is_said:
        return None
    offered = PurePosixPath(_OFFERED)
    for storage in broker.member.storage:
        if offered.is_relative_to(storage.target) or PurePosixPath(storage.target).is_relative_to(offered):
            return _finding(
                broker,
                storage,
                "as long as KAFKA_LOG_DIRS does not name a folder, Kafka writes its data to one in /tmp",
                f"set KAFKA_LOG_DIRS: {_OFFERED}, and mount it there",
            )
    return None


def _finding(broker: Broker, storage: Storage, why: str, hint: str) -> Finding:
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"{broker.name} keeps none of its data in what is mounted at {storage.target}",
        location=storage.where,
        why=f"{why}; `docker compose down` and `docker compose up` start it without data",
        hint=hint,
        service=broker.name,
    )
