"""The image has no ZooKeeper mode any more.

Why: Kafka 4.0 and with it Confluent Platform 8.0 run without ZooKeeper. A tag that moves with the releases brought
many files there that were right when they were written.

Bad:
    services:
      kafka:
        image: confluentinc/cp-kafka:latest
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181  # <- here
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092

Good:
    services:
      kafka:
        image: confluentinc/cp-kafka:7.9.2
        environment:
          KAFKA_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092

Seen: environment variable "KAFKA_PROCESS_ROLES" is not set

Sources: configure of cp-kafka 8.0; libkafka.sh of bitnami/kafka 4.0; KIP-500, KIP-833.
"""

from collections.abc import Iterator

from netdiag.deployment.member import Broker, Deployment, State
from netdiag.findings import Finding, Severity
from netdiag.kafka.images.reference import ImageFamily

ID = "image-version-breaks-mode"
SEVERITY = Severity.ERROR
# What the start scripts of the releases without ZooKeeper print.
_PRINTS = {
    ImageFamily.CONFLUENT: 'environment variable "KAFKA_PROCESS_ROLES" is not set',
    ImageFamily.APACHE: 'Missing required configuration "process.roles" which has no default value.',
    ImageFamily.BITNAMI: "Kafka requires at least one process role to be set.",
}


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every broker with ZooKeeper on a release without; a note where the release is unknown.

    A container tells by running which release a moving tag stood for: nothing is said about it.
    """
    for broker in deployment.brokers:
        if broker.config.family not in _PRINTS or not _lost_zookeeper(broker):
            continue
        if broker.config.family is ImageFamily.APACHE:
            yield _finding(broker, SEVERITY, f"{broker.member.image} never had a ZooKeeper mode")
        elif broker.config.version is not None:
            yield _finding(broker, SEVERITY, f"{broker.member.image} has no ZooKeeper mode")
        elif broker.member.state is State.DECLARED and broker.config.is_newest:
            yield _finding(broker, SEVERITY, f"today's {broker.member.image} has no ZooKeeper mode")
        elif broker.member.state is State.DECLARED and not _is_left_open(broker.member.image):
            unknown = f"whether {broker.member.image} still has a ZooKeeper mode cannot be told from its tag"
            yield _finding(broker, Severity.NOTE, unknown)


def _lost_zookeeper(broker: Broker) -> bool:
    """Whether a broker is meant for ZooKeeper on a release that may not have it."""
    config = broker.config
    given = config.value("zookeeper.connect") and not config.roles and not config.is_unknown("process.roles")
    # The start script of apache/kafka formats the storage of a KRaft node, whatever the release.
    formats = config.family is ImageFamily.APACHE and not broker.is_partial
    return bool(given) and (formats or not config.is_older_than(4))


def _is_left_open(image: str) -> bool:
    """Whether the tag is an unset variable's, or the image had its last release while there was a ZooKeeper mode."""
    return image.endswith(":") or "cp-enterprise-kafka" in image


def _finding(broker: Broker, severity: Severity, said: str) -> Finding:
    return Finding(
        rule=ID,
        severity=severity,
        message=f"{broker.name} is set up for ZooKeeper, but {said}"
        if severity is SEVERITY
        else f"{broker.name} is set up for ZooKeeper, and {said}",
        location=broker.place("zookeeper.connect"),
        why="the image formats a KRaft storage before Kafka starts"
        if broker.config.family is ImageFamily.APACHE
        else "Kafka 4.0 and Confluent Platform 8.0 dropped ZooKeeper",
        hint=_hint(broker),
        service=broker.name,
        broker_prints=_prints(broker) if severity is SEVERITY else None,
    )


def _prints(broker: Broker) -> str:
    if broker.config.family is ImageFamily.APACHE and broker.config.is_older_than(4):
        return "Formatting is only supported for clusters in KRaft mode."
    return _PRINTS[broker.config.family]


def _hint(broker: Broker) -> str:
    bitnami = broker.config.family is ImageFamily.BITNAMI
    pinned = "bitnamilegacy/kafka:3.9" if bitnami else "7.9.2"
    names = ("PROCESS_ROLES", "NODE_ID", "CONTROLLER_QUORUM_VOTERS", "CONTROLLER_LISTENER_NAMES")
    prefix, cluster = ("KAFKA_CFG_", "KAFKA_KRAFT_CLUSTER_ID") if bitnami else ("KAFKA_", "CLUSTER_ID")
    needed = ", ".join((*(prefix + name for name in names), cluster))
    if broker.config.family is ImageFamily.APACHE:
        return f"set the node up for KRaft: {needed}"
    return f"pin a release with ZooKeeper, for example {pinned}, or set the node up for KRaft: {needed}"
