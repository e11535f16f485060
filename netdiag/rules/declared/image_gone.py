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

from netdiag.deployment.model.deployment import Deployment, State
from netdiag.findings import Finding, Severity
from netdiag.patterns import regex

ID = "image-gone"
SEVERITY = Severity.NOTE
# Only images from Docker Hub itself: a private registry keeps what it has.
_HUB = r"(?:(?:docker|index\.docker|registry-1\.docker)\.io/)?"
_MOVED = regex(_HUB + r"bitnami/kafka(?:[:@].*)?")
_ENDED = regex(_HUB + r"wurstmeister/kafka(?:[:@].*)?")


def check(deployment: Deployment) -> Iterator[Finding]:
    """One note for every declared broker with such an image; an existing container already has its image."""
    for broker in deployment.brokers:
        image = broker.member.image
        if broker.member.state is not State.DECLARED:
            continue
        if _MOVED.fullmatch(image):
            said = f'image "{image}" of {broker.name} is no longer on Docker Hub'
            hint = f"use {image.replace('bitnami/', 'bitnamilegacy/', 1)}, which gets no updates, or apache/kafka"
            why = "Bitnami moved the tags to bitnamilegacy in August 2025"
        elif _ENDED.fullmatch(image):
            said = f'image "{image}" of {broker.name} gets no more releases'
            hint, why = "use apache/kafka", "its last release has Kafka 2.8.1, from 2021"
        else:
            continue
        yield Finding(
            rule=ID,
            severity=SEVERITY,
            message=said,
            location=broker.member.where,
            why=why,
            hint=hint,
            service=broker.name,
        )
