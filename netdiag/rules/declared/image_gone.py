"""The image can no longer be pulled, or gets no more releases.

Why: Bitnami moved its free tags to bitnamilegacy on 28 August 2025, and Kafka is not among the images it still offers
for free; wurstmeister/kafka ended with Kafka 2.8.1. A cached or mirrored image continues to work.

Bad:
    services:
      kafka:  # <- here
        image: bitnami/kafka:3.9
        environment:
          KAFKA_CFG_NODE_ID: 1
          KAFKA_CFG_PROCESS_ROLES: broker,controller
          KAFKA_CFG_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
          KAFKA_CFG_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_CFG_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
          KAFKA_CFG_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
          KAFKA_CFG_CONTROLLER_LISTENER_NAMES: CONTROLLER

Good:
    services:
      kafka:
        image: bitnamilegacy/kafka:3.9
        environment:
          KAFKA_CFG_NODE_ID: 1
          KAFKA_CFG_PROCESS_ROLES: broker,controller
          KAFKA_CFG_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
          KAFKA_CFG_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
          KAFKA_CFG_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
          KAFKA_CFG_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
          KAFKA_CFG_CONTROLLER_LISTENER_NAMES: CONTROLLER

Seen: manifest for bitnami/kafka:3.9 not found: manifest unknown

Sources: bitnami/containers#83267, #85621, #85636, #86597; wurstmeister/kafka-docker.
"""

from collections.abc import Iterator

from netdiag.deployment.model.deployment import Broker, Deployment, State
from netdiag.findings import Finding, Related, Severity
from netdiag.kafka.broker_config import Mode
from netdiag.kafka.images.families import parse_image
from netdiag.kafka.images.reference import is_floating
from netdiag.patterns import regex

ID = "image-gone"
SEVERITY = Severity.NOTE
# Only images from Docker Hub itself: a private registry keeps what it has.
_HUB = r"(?:(?:docker|index\.docker|registry-1\.docker)\.io/)?"
_MOVED = regex(_HUB + r"bitnami/kafka(?:[:@].*)?")
_ENDED = regex(_HUB + r"wurstmeister/kafka(?:[:@].*)?")


def check(deployment: Deployment) -> Iterator[Finding]:
    """One note for all declared brokers of such an image; an existing container already has its image."""
    groups: dict[tuple[str, bool], list[Broker]] = {}
    for broker in deployment.brokers:
        if broker.member.state is State.DECLARED:
            groups.setdefault((broker.member.image, broker.config.mode is Mode.ZOOKEEPER), []).append(broker)
    for (image, with_zookeeper), brokers in groups.items():
        names = ", ".join(broker.name for broker in brokers)
        if _MOVED.fullmatch(image):
            said = f'image "{image}" of {names} is no longer on Docker Hub'
            hint, why = _instead(image, with_zookeeper), "Bitnami moved the tags to bitnamilegacy in August 2025"
        elif _ENDED.fullmatch(image):
            said = f'image "{image}" of {names} gets no more releases'
            hint, why = "use apache/kafka, in KRaft mode", "its last release has Kafka 2.8.1, from 2021"
        else:
            continue
        yield Finding(
            rule=ID,
            severity=SEVERITY,
            message=said,
            location=brokers[0].member.where,
            related=tuple(Related(location=b.member.where, message=f"{b.name} uses it, too") for b in brokers[1:]),
            why=why,
            hint=hint,
            service=brokers[0].name,
        )


def _instead(image: str, with_zookeeper: bool) -> str:
    """The image to use; for a broker with ZooKeeper one that supports it."""
    legacy = image.replace("bitnami/", "bitnamilegacy/", 1)
    if not with_zookeeper:
        return f"use {legacy}, which gets no updates, or apache/kafka"
    tag = parse_image(image).tag
    pinned = legacy if not is_floating(tag) else f"{legacy.partition(':')[0]}:3.9"
    return f"use {pinned}, which supports ZooKeeper and gets no updates, or apache/kafka in KRaft mode"
