"""A broker's data directory is a folder that the broker may not write to.

Why: Many images run Kafka as a user other than root. On Linux, that user needs the right to write to a folder of the
docker host that is mounted as data directory. If the folder does not exist, the engine creates it for root. Docker
Desktop maps owners, so brokers there can write anyway.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
        volumes:
          - ./data:/var/lib/kafka/data  # <- here
    x-files:
      README.md: there is no folder data

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
        volumes:
          - kafka-data:/var/lib/kafka/data
    volumes:
      kafka-data:

Seen: Command [/usr/local/bin/dub path /var/lib/kafka/data writable] FAILED !; java.nio.file.AccessDeniedException:
    /var/lib/kafka/data/bootstrap.checkpoint.tmp; mkdir: cannot create directory '/bitnami/kafka/config': Permission
    denied

Sources: The user of apache/kafka and of cp-kafka since 6.0 is 1000, of bitnami/kafka 1001 (Dockerfiles); `docker run`
reference, --volume: the engine creates a folder that does not exist.
"""

import shlex
from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment, Folder, State, Storage
from netdiag.digits import number_of
from netdiag.findings import Finding, Severity
from netdiag.kafka.images.families import FAMILIES, parse_image
from netdiag.kafka.images.reference import ContainerUser

ID = "data-directory-not-writable"
SEVERITY = Severity.WARNING


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every broker that may not write to its data directory."""
    if deployment.platform.virtual_machine is not None:
        return
    for broker in deployment.configured:
        user = _user(broker)
        if user is None or broker.member.state is not State.DECLARED:
            continue
        for storage in map(broker.storage_of, broker.data_directories):
            if storage is None or storage.folder is None or storage.folder.is_writable_by(user):
                continue
            yield _finding(broker, storage, storage.folder, user)
            break


def _user(broker: Broker) -> ContainerUser | None:
    """Whom the broker runs as; None where nobody knows."""
    image = parse_image(broker.member.image)
    own = FAMILIES[image.family].user(image)
    if not broker.member.user:
        return own
    uid, _, gid = broker.member.user.partition(":")
    user, group = number_of(uid), number_of(gid) if gid else 0
    return None if user is None or group is None else ContainerUser(uid=user, gid=group)


def _finding(broker: Broker, storage: Storage, folder: Folder, user: ContainerUser) -> Finding:
    path = storage.written
    quoted = shlex.quote(path)
    owner = f"belongs to user {folder.uid}" if folder.exists else "does not exist, and the engine creates it for root"
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"{broker.name} runs as user {user.uid} and cannot write to {path}: the folder {owner}",
        location=storage.where,
        why="on Linux, files have the same owner in a container as on the docker host; the broker exits",
        hint=f"mount a named volume, or run `mkdir -p {quoted} && sudo chown {user.uid} {quoted}` first",
        service=broker.name,
    )
