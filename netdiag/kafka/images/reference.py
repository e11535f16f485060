"""Image references: which family an image belongs to, and which Kafka its tag stands for."""

import re
from dataclasses import dataclass
from enum import Enum


class ImageFamily(Enum):
    """Images that start a broker in the same way."""

    APACHE = "apache/kafka"
    CONFLUENT = "confluentinc/cp-kafka"
    CONFLUENT_ZOOKEEPER = "confluentinc/cp-zookeeper"
    CONFLUENT_LOCAL = "confluentinc/confluent-local"
    BITNAMI = "bitnami/kafka"
    WURSTMEISTER = "wurstmeister/kafka"
    DEBEZIUM = "debezium/kafka"
    STRIMZI = "strimzi/kafka"
    FAST_DATA_DEV = "lensesio/fast-data-dev"
    REDPANDA = "redpandadata/redpanda"
    OTHER = "other"


@dataclass(frozen=True, slots=True, order=True)
class KafkaVersion:
    """An Apache Kafka release; a patch of None is "whichever patch"."""

    major: int
    minor: int
    patch: int | None = None

    def __str__(self) -> str:
        tail = "" if self.patch is None else f".{self.patch}"
        return f"{self.major}.{self.minor}{tail}"

    def at_least(self, major: int, minor: int = 0) -> bool:
        """Whether this release is `major.minor` or newer."""
        return (self.major, self.minor) >= (major, minor)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageReference:
    """An image name split up; `kafka_version` is None where the tag does not tell."""

    text: str
    repository: str
    tag: str | None
    family: ImageFamily
    kafka_version: KafkaVersion | None

    @property
    def is_newest(self) -> bool:
        """Whether the tag stands for the newest release: none or `latest`, of an image that still gets releases."""
        floating = self.tag is None or _LATEST.fullmatch(self.tag) is not None
        pinned = "@" in self.text or self.text.endswith(":")
        return floating and not pinned and not self.repository.endswith("cp-enterprise-kafka")


# What a replaced command must hold for the container still to run a broker.
_STARTS_BROKER = re.compile(r"kafka-server-start|/etc/confluent/docker/run|/etc/kafka/docker/run|start-kafka")
_BROKER_FAMILIES = (ImageFamily.APACHE, ImageFamily.CONFLUENT)
_REPOSITORIES = {
    "apache/kafka": ImageFamily.APACHE,
    "apache/kafka-native": ImageFamily.APACHE,
    "confluentinc/cp-kafka": ImageFamily.CONFLUENT,
    "confluentinc/cp-server": ImageFamily.CONFLUENT,
    "confluentinc/cp-enterprise-kafka": ImageFamily.CONFLUENT,
    "confluentinc/cp-zookeeper": ImageFamily.CONFLUENT_ZOOKEEPER,
    "redpandadata/redpanda": ImageFamily.REDPANDA,
    "vectorized/redpanda": ImageFamily.REDPANDA,
}
_LATEST = re.compile(r"latest([.-].*)?")
_VERSION = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+|x))?")


def runs_broker(image: str, command: str) -> bool:
    """Whether a container of this image runs a broker; `command` replaces the image's own, empty where none does.

    Init jobs and shells are often started from a broker's image.
    """
    family = parse_image(image).family
    return family in _BROKER_FAMILIES and (not command or _STARTS_BROKER.search(command) is not None)


def parse_image(text: str) -> ImageReference:
    """Split `[registry/]repository[:tag][@digest]`; a registry in front of a known repository does not hide it."""
    without_digest = text.partition("@")[0]
    head, slash, last = without_digest.rpartition("/")
    name, _, tag = last.partition(":")
    repository = f"{head}{slash}{name}"
    family = _family(repository)
    return ImageReference(
        text=text,
        repository=repository,
        tag=tag or None,
        family=family,
        kafka_version=_kafka_version(family, tag),
    )


def _family(repository: str) -> ImageFamily:
    short = "/".join(repository.split("/")[-2:])
    return _REPOSITORIES.get(short, ImageFamily.OTHER)


def _kafka_version(family: ImageFamily, tag: str) -> KafkaVersion | None:
    match = _VERSION.match(tag)
    if match is None:
        return None
    major, minor = int(match[1]), int(match[2])
    patch = int(match[3]) if match[3] and match[3] != "x" else None
    if family is ImageFamily.APACHE:
        return KafkaVersion(major, minor, patch)
    if family is ImageFamily.CONFLUENT and major >= 3:
        # Confluent Platform 7.n carries Apache Kafka 3.n, 8.n carries 4.n, 5.n and 6.n carry 2.n, 4.n carries 1.n.
        ancient = (0, 11 if minor >= 3 else 10)
        offset = {3: ancient, 4: (1, minor), 5: (2, minor), 6: (2, minor + 6)}.get(major, (major - 4, minor))
        return KafkaVersion(*offset, patch if major >= 7 else None)
    return None
