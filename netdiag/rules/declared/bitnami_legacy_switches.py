"""A variable that older Bitnami images need is missing or wrong.

Why: Until mid-2023, these images start with unencrypted listeners only if ALLOW_PLAINTEXT_LISTENER is yes. The images
of spring 2023 also start every broker as a KRaft node, even one with ZooKeeper settings, unless KAFKA_ENABLE_KRAFT is
no.

Bad:
    services:
      zookeeper:
        image: zookeeper:3.9
      kafka:  # <- here
        image: bitnamilegacy/kafka:2.8
        environment:
          KAFKA_CFG_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_CFG_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092

Good:
    services:
      zookeeper:
        image: zookeeper:3.9
      kafka:
        image: bitnamilegacy/kafka:2.8
        environment:
          ALLOW_PLAINTEXT_LISTENER: "yes"
          KAFKA_CFG_ZOOKEEPER_CONNECT: zookeeper:2181
          KAFKA_CFG_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092

Seen: The KAFKA_CFG_LISTENERS environment variable does not configure a secure listener.

Sources: kafka_validate in libkafka.sh of bitnami/containers, folders 2, 3.1 and 3.5; apache/druid#14335.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment
from netdiag.findings import Finding, Severity
from netdiag.kafka.broker_config import Mode
from netdiag.kafka.images.bitnami import Generation, generation
from netdiag.kafka.images.reference import ImageFamily

ID = "bitnami-legacy-switches"
SEVERITY = Severity.ERROR
_ALLOW = "ALLOW_PLAINTEXT_LISTENER"


def check(deployment: Deployment) -> Iterator[Finding]:
    """One finding for every broker that its image refuses to start; a warning if it starts without its ZooKeeper."""
    for broker in deployment.brokers:
        config = broker.config
        if config.family is not ImageFamily.BITNAMI:
            continue
        if config.refusal is not None and config.refusal.variable == _ALLOW:
            yield _refused(broker, config.refusal.prints)
        elif _is_switched(broker) and config.value("zookeeper.connect"):
            yield _switched(broker)


def _is_switched(broker: Broker) -> bool:
    """Whether the image alone, and no setting, makes it a KRaft node."""
    config = broker.config
    by_default = generation(config.tag, config.version) is Generation.KRAFT and config.mode is Mode.KRAFT
    return by_default and "KAFKA_CFG_PROCESS_ROLES" not in broker.declared


def _refused(broker: Broker, prints: str) -> Finding:
    declared = broker.declared.get(_ALLOW)
    return Finding(
        rule=ID,
        severity=SEVERITY,
        message=f"{broker.name} has no encrypted listener, which {broker.member.image} allows only with {_ALLOW}=yes",
        location=declared.at() if declared else broker.member.where,
        why="the image's start script exits before Kafka starts",
        hint=f"set {_ALLOW} to yes",
        service=broker.name,
        broker_prints=prints,
    )


def _switched(broker: Broker) -> Finding:
    return Finding(
        rule=ID,
        severity=Severity.WARNING,
        message=f"{broker.name} sets zookeeper.connect, but {broker.member.image} starts it as a KRaft node",
        location=broker.place("zookeeper.connect"),
        why="the images of spring 2023 use KRaft unless KAFKA_ENABLE_KRAFT is no",
        hint="set KAFKA_ENABLE_KRAFT to no, or remove the ZooKeeper settings",
        service=broker.name,
    )
