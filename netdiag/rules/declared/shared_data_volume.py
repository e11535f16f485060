"""Two brokers use the same data directory.

Why: A broker locks its data directory and writes its node ID into it. If two containers mount the same volume or folder
as their data directory, the second one finds it locked and exits.

Bad:
    services:
      kafka-1:
        image: confluentinc/cp-kafka:7.9.2
        volumes:
          - data:/var/lib/kafka/data
        environment:
          KAFKA_BROKER_ID: 1
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-1:9092
      kafka-2:
        image: confluentinc/cp-kafka:7.9.2
        volumes:
          - data:/var/lib/kafka/data  # <- here
        environment:
          KAFKA_BROKER_ID: 2
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-2:9092
    volumes:
      data:

Good:
    services:
      kafka-1:
        image: confluentinc/cp-kafka:7.9.2
        volumes:
          - data-1:/var/lib/kafka/data
        environment:
          KAFKA_BROKER_ID: 1
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-1:9092
      kafka-2:
        image: confluentinc/cp-kafka:7.9.2
        volumes:
          - data-2:/var/lib/kafka/data
        environment:
          KAFKA_BROKER_ID: 2
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka-2:9092
    volumes:
      data-1:
      data-2:

Seen: Failed to acquire lock on file .lock in /var/lib/kafka/data. A Kafka instance in another process or thread is
    using this directory.

Sources: LogManager.lockLogDirs, MetaPropertiesEnsemble; the default log.dirs of the images.
"""

from collections.abc import Iterator
from pathlib import PurePosixPath

from netdiag.deployment.model.deployment import Broker, Deployment, State, Storage
from netdiag.findings import Finding, Related, Severity

ID = "shared-data-volume"
SEVERITY = Severity.ERROR


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every broker whose data directory an earlier broker uses."""
    first: dict[tuple[str, PurePosixPath], tuple[Broker, Storage]] = {}
    for broker in deployment.configured:
        if broker.member.state is not State.DECLARED:
            continue
        for folder in map(PurePosixPath, broker.data_directories):
            storage = broker.storage_of(str(folder))
            if storage is None:
                continue
            inside = folder.relative_to(storage.target)
            other, same = first.setdefault((storage.source, inside), (broker, storage))
            if other is not broker:
                yield _finding(broker, storage, other, same)
                break


def _finding(broker: Broker, storage: Storage, other: Broker, same: Storage) -> Finding:
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"{broker.name} uses the data directory of {other.name}",
        location=storage.where,
        related=(Related(location=same.where, message=f"{other.name} mounts it too"),),
        why="a broker locks its data directory, so the second broker with the same one exits",
        hint=f"give {broker.name} a volume of its own",
        service=broker.name,
    )
