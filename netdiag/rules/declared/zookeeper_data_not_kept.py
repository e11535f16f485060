"""A broker keeps its data, and the ZooKeeper that it uses does not.

Why: ZooKeeper creates the cluster ID, and the broker writes it into its data directory. `docker compose down` removes
the ZooKeeper container and leaves the named volumes and folders. The next `docker compose up` starts an empty
ZooKeeper, which creates another cluster ID, and the broker exits because its data directory has the old one.

Bad:
    services:
      zookeeper:
        image: confluentinc/cp-zookeeper:7.9.2
        environment:
          ZOOKEEPER_CLIENT_PORT: 2181
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
        volumes:
          - kafka-data:/var/lib/kafka/data  # <- here
    volumes:
      kafka-data:

Good:
    services:
      zookeeper:
        image: confluentinc/cp-zookeeper:7.9.2
        environment:
          ZOOKEEPER_CLIENT_PORT: 2181
        volumes:
          - zookeeper-data:/var/lib/zookeeper/data
          - zookeeper-log:/var/lib/zookeeper/log
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
        volumes:
          - kafka-data:/var/lib/kafka/data
    volumes:
      kafka-data:
      zookeeper-data:
      zookeeper-log:

Seen: Invalid cluster.id in: /var/lib/kafka/data/meta.properties. Expected kVSgfurUQFGGpHMTBqBPiw, but read
    0Qftv9yBTAmf2iDPSlIk7g; InconsistentClusterIdException: The Cluster ID kVSgfurUQFGGpHMTBqBPiw doesn't match
    stored clusterId Some(0Qftv9yBTAmf2iDPSlIk7g) in meta.properties.

Sources: KafkaServer.startup of 3.9, MetaPropertiesEnsemble.verify; the volumes of the images of ZooKeeper.
"""

from collections.abc import Iterator
from pathlib import PurePosixPath

from netdiag.deployment.clients import members_called
from netdiag.deployment.model.deployment import Broker, Deployment, Member, State, Storage
from netdiag.deployment.prediction.listener_access import zookeeper_port
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.broker_config import Mode
from netdiag.kafka.images.families import parse_image

ID = "zookeeper-data-not-kept"
SEVERITY = Severity.WARNING

# Where the images keep data and the log of transactions, most of them in VOLUMEs of their own; and the variables that
# choose other folders.
_FOLDERS = {
    "confluentinc/cp-zookeeper": ("/var/lib/zookeeper/data", "/var/lib/zookeeper/log"),
    "zookeeper": ("/data", "/datalog"),
    "bitnami/zookeeper": ("/bitnami/zookeeper",),
    "bitnamilegacy/zookeeper": ("/bitnami/zookeeper",),
    "debezium/zookeeper": ("/zookeeper/data", "/zookeeper/txns"),
}
_WITHOUT_VOLUMES = frozenset({"bitnami/zookeeper", "bitnamilegacy/zookeeper"})
_CHOOSING = ("ZOOKEEPER_DATA_DIR", "ZOOKEEPER_DATA_LOG_DIR", "ZOO_DATA_DIR", "ZOO_DATA_LOG_DIR")


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every broker whose data outlive those of all ZooKeepers that it is given."""
    for broker in deployment.configured:
        if broker.config.mode is not Mode.ZOOKEEPER or broker.member.state is not State.DECLARED:
            continue
        if broker.config.is_older_than(2, 4):
            # Older brokers do not compare cluster IDs.
            continue
        kept = _kept(broker)
        zookeepers = _zookeepers(deployment, broker)
        if kept is not None and zookeepers and not any(map(_may_keep, zookeepers)):
            yield _finding(broker, kept, zookeepers[0])


def _kept(broker: Broker) -> Storage | None:
    """What holds the broker's data directory when its container is gone."""
    return next(filter(None, map(broker.storage_of, broker.data_directories)), None)


def _zookeepers(deployment: Deployment, broker: Broker) -> tuple[Member, ...]:
    """The ZooKeepers of the connect string; none unless each is one service of the files."""
    hosts = (broker.config.value("zookeeper.connect") or "").partition("/")[0].split(",")
    found = []
    for host in hosts:
        called = members_called(deployment, host.strip().rpartition(":")[0])
        if len(called) != 1 or zookeeper_port(called[0]) is None:
            return ()
        found.append(called[0])
    return tuple(found)


def _may_keep(zookeeper: Member) -> bool:
    """Whether something of its data, or of its log, outlives the container; yes where nobody knows where these are."""
    repository = parse_image(zookeeper.image).repository
    folders = _FOLDERS.get(repository)
    if folders is None or any(name in zookeeper.variables for name in _CHOOSING):
        return True
    pairs = [(PurePosixPath(storage.target), PurePosixPath(each)) for storage in zookeeper.storage for each in folders]
    # An anonymous volume covers what is mounted above it.
    may_be_above = repository in _WITHOUT_VOLUMES
    return any(
        target.is_relative_to(folder) or (may_be_above and folder.is_relative_to(target)) for target, folder in pairs
    )


def _deleted(kept: Storage) -> str:
    """How the broker's data go with ZooKeeper's: Compose deletes volumes, not folders of the docker host."""
    is_volume = kept.source.startswith("volume ")
    return "run `docker compose down --volumes`" if is_volume else f"delete what is mounted at {kept.target} as well"


def _finding(broker: Broker, kept: Storage, zookeeper: Member) -> Finding:
    folders = " and ".join(_FOLDERS[parse_image(zookeeper.image).repository])
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"{broker.name} keeps its data after `docker compose down`, and {zookeeper.name} does not",
        location=kept.where,
        related=(Related(location=zookeeper.where, message=f"no volume for {folders}"),),
        why="an empty ZooKeeper creates a new cluster ID, and the broker, which finds the old one in its data, exits",
        hint=f"mount named volumes at {folders} of {zookeeper.name}, or {_deleted(kept)}",
        service=broker.name,
    )
