"""The image does not support ZooKeeper mode.

Why: Kafka 4.0 and Confluent Platform 8.0 removed ZooKeeper mode. Files with a moving tag such as latest were right when
they were written and now pull such a release.

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

from netdiag.deployment.model.deployment import Broker, Deployment, State
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
    """One finding for every broker with ZooKeeper on a release without it; a note if the release is unknown.

    A running container shows which release its moving tag stands for, so nothing is reported.
    """
    for broker in deployment.brokers:
        if broker.config.family not in _PRINTS or not _lost_zookeeper(broker):
            continue
        if broker.config.family is ImageFamily.APACHE:
            yield _finding(broker, SEVERITY, f"{broker.member.image} never supported ZooKeeper mode")
        elif broker.config.version is not None:
            yield _finding(broker, SEVERITY, f"{broker.member.image} does not support ZooKeeper mode")
        elif broker.member.state is State.DECLARED and broker.config.is_newest:
            yield _finding(broker, SEVERITY, f"the current {broker.member.image} does not support ZooKeeper mode")
        elif broker.member.state is State.DECLARED and not _is_left_open(broker.member.image):
            unknown = f"the tag of {broker.member.image} does not show whether it supports ZooKeeper mode"
            yield _finding(broker, Severity.NOTE, unknown)


def _lost_zookeeper(broker: Broker) -> bool:
    """Whether a broker is meant for ZooKeeper on a release that may not have it."""
    config = broker.config
    given = config.value("zookeeper.connect") and not config.roles and not config.is_unknown("process.roles")
    # The start script of apache/kafka formats the storage of a KRaft node, whatever the release.
    formats = config.family is ImageFamily.APACHE and not broker.is_partial
    return bool(given) and (formats or not config.is_older_than(4))


def _is_left_open(image: str) -> bool:
    """Whether the tag is an unset variable, or the image had its last release while ZooKeeper mode existed."""
    return image.endswith(":") or "cp-enterprise-kafka" in image


def _finding(broker: Broker, severity: Severity, said: str) -> Finding:
    return Finding(
        rule=ID,
        severity=severity,
        message=f"{broker.name} is configured for ZooKeeper, but {said}"
        if severity is SEVERITY
        else f"{broker.name} is configured for ZooKeeper, and {said}",
        location=broker.place("zookeeper.connect"),
        why="the image formats KRaft storage before Kafka starts"
        if broker.config.family is ImageFamily.APACHE
        else "Kafka 4.0 and Confluent Platform 8.0 removed ZooKeeper mode",
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
        return f"configure the node for KRaft: set {needed}"
    return f"pin a release with ZooKeeper mode, for example {pinned}, or configure the node for KRaft: set {needed}"
