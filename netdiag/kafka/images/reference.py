"""Image references: which family an image belongs to, and which Kafka its tag stands for."""

import dataclasses
from collections.abc import Mapping
from enum import Enum

from netdiag.kafka.images import fast_data_dev, unknown
from netdiag.patterns import regex
from netdiag.values import dataclass


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


@dataclasses.dataclass(frozen=True, slots=True, order=True)
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
        pinned = "@" in self.text or self.text.endswith(":")
        return is_floating(self.tag) and not pinned and not _FROZEN.search(self.repository)


# What a replaced command must hold for the container still to run a broker.
_STARTS_BROKER = regex(
    r"kafka-server-start|/etc/confluent/docker/run|/etc/kafka/docker/run|start-kafka"
    r"|/opt/bitnami/scripts/kafka/(?:entrypoint|run)\.sh|setup-and-run|^(?:/docker-entrypoint\.sh )?start$"
)
# The same for a machine with Kafka on it that is no image of Kafka.
_STARTS_KAFKA = regex(r"kafka-server-start(?:\.sh)?\b")
# A command that is a script in a file, behind an init and a shell or not; what is written out in the command was read.
_SCRIPT = regex(
    r"(?:\S*(?:tini|dumb-init)\s+(?:-\S+\s+)*)?(?:(?:\S*/)?(?:ba|da|a)?sh\s+(?:-[eux]+\s+)*)?"
    r"(?P<path>\.{0,2}/\S*[^\s/]|[\w.-]+\.sh)(?:\s|$)"
)
_STARTS = regex(r"kafka|broker|entrypoint|start")
_JOB = regex(r"topic|init|setup|create|wait|health|test|sleep|tail|java$")
_CALLED_KAFKA = frozenset({"kafka", "kafka-broker", "kafka-server"})
_REPOSITORIES = {
    "apache/kafka": ImageFamily.APACHE,
    "apache/kafka-native": ImageFamily.APACHE,
    "confluentinc/cp-kafka": ImageFamily.CONFLUENT,
    "confluentinc/cp-server": ImageFamily.CONFLUENT,
    "confluentinc/cp-enterprise-kafka": ImageFamily.CONFLUENT,
    "confluentinc/cp-zookeeper": ImageFamily.CONFLUENT_ZOOKEEPER,
    "redpandadata/redpanda": ImageFamily.REDPANDA,
    "vectorized/redpanda": ImageFamily.REDPANDA,
    "confluentinc/confluent-local": ImageFamily.CONFLUENT_LOCAL,
    "bitnami/kafka": ImageFamily.BITNAMI,
    "bitnamilegacy/kafka": ImageFamily.BITNAMI,
    "bitnamisecure/kafka": ImageFamily.BITNAMI,
    "soldevelo/kafka": ImageFamily.BITNAMI,
    "wurstmeister/kafka": ImageFamily.WURSTMEISTER,
    "debezium/kafka": ImageFamily.DEBEZIUM,
    "strimzi/kafka": ImageFamily.STRIMZI,
    "lensesio/fast-data-dev": ImageFamily.FAST_DATA_DEV,
    "landoop/fast-data-dev": ImageFamily.FAST_DATA_DEV,
    "lensesio/box": ImageFamily.FAST_DATA_DEV,
    "landoop/kafka-lenses-dev": ImageFamily.FAST_DATA_DEV,
}
# What has "kafka" in its name and takes a broker's variables for something else, or for nothing.
_BESIDE = regex(r"connect|registry|rest|ui|exporter|ksql|cli|client|init|setup|topic|mirror|manager|zookeeper|cat")
_FROZEN = regex(r"cp-enterprise-kafka$|(?:^|/)(?:bitnamilegacy|wurstmeister|lensesio|landoop)/")
_LATEST = regex(r"latest([.-].*)?")
_VERSION = regex(r"v?(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}|x))?")
_SCALA = regex(r"2\.1\d-(?=\d)")
_LAST_OF_WURSTMEISTER = "2.8.1"
# Bitnami's tags of one number, by the last release that they stood for.
_MAJORS = {"2": KafkaVersion(2, 8), "3": KafkaVersion(3, 9), "4": KafkaVersion(4, 0)}
# Debezium's releases have numbers of their own: KAFKA_VERSION in the Dockerfiles of debezium/container-images.
_DEBEZIUM = {
    (1, 0): "2.4.0",
    (1, 1): "2.4.0",
    (1, 2): "2.5.0",
    (1, 3): "2.6.0",
    (1, 4): "2.6.1",
    (1, 5): "2.7.0",
    (1, 6): "2.7.1",
    (1, 7): "2.8.1",
    (1, 8): "3.0.0",
    (1, 9): "3.2.0",
    (2, 0): "3.3.1",
    (2, 1): "3.3.1",
    (2, 2): "3.4.0",
    (2, 3): "3.4.0",
    (2, 4): "3.5.1",
    (2, 5): "3.6.1",
    (2, 6): "3.7.0",
    (2, 7): "3.7.0",
    (3, 0): "3.9.0",
    (3, 1): "3.9.0",
    (3, 2): "4.0.0",
    (3, 3): "4.1.0",
    (3, 4): "4.1.1",
    (3, 5): "4.2.0",
    (3, 6): "4.3.0",
    (3, 7): "4.3.0",
}


class Sign(Enum):
    """What tells that a container runs a broker."""

    IMAGE = "a known image, started in its own way"
    COMMAND = "an unknown image, started as Kafka is"
    SCRIPT = "a script of somebody's own, and variables of a broker"
    VARIABLES = "an unknown image, and variables of a broker"
    NAME = "an unknown image that is called kafka"


def runs_broker(
    image: str, command: str, environment: Mapping[str, str | None] | None = None, *, is_published: bool = False
) -> bool:
    """Whether a container of this image runs a broker, or looks like it."""
    return sign_of_broker(image, command, environment, is_published=is_published) is not None


def sign_of_broker(
    image: str, command: str, environment: Mapping[str, str | None] | None = None, *, is_published: bool = False
) -> Sign | None:
    """What tells that a container of this image runs a broker; None where nothing does.

    `command` replaces the image's own, empty where none does; `is_published`: whether ports of it are. Init jobs and
    shells are often started from a broker's image, and share its variables: a script that is not known is a broker's
    only where a port is published or it is called like one that starts a broker, and what has no more than the name of
    a broker only where a port is published.
    """
    reference = parse_image(image)
    variables = environment or {}
    name = reference.repository.rpartition("/")[2]
    is_beside = reference.family is ImageFamily.OTHER and _BESIDE.search(name)
    if reference.family is ImageFamily.CONFLUENT_ZOOKEEPER or is_beside:
        return None
    if command and _STARTS_BROKER.search(command) is None:
        script = (script_of(command) or "").rpartition("/")[2]
        is_own = script and not _JOB.search(script) and (is_published or _STARTS.search(script))
        return Sign.SCRIPT if is_own and unknown.telling_variable(variables) else None
    match reference.family:
        case ImageFamily.REDPANDA:
            # Of Redpanda the flags tell.
            return None
        case ImageFamily.STRIMZI:
            return Sign.IMAGE if command else None
        case ImageFamily.FAST_DATA_DEV:
            return Sign.IMAGE if fast_data_dev.starts_broker(variables) else None
        case ImageFamily.OTHER:
            if unknown.telling_variable(variables):
                return Sign.VARIABLES
            if _STARTS_KAFKA.search(command):
                return Sign.COMMAND
            return Sign.NAME if name in _CALLED_KAFKA and is_published and not command else None
        case _:
            return Sign.IMAGE


def script_of(command: str) -> str | None:
    """The path of the script that a command is, where it is one that starts no broker by its name."""
    match = _SCRIPT.match(command)
    return match["path"] if match is not None and _STARTS_BROKER.search(command) is None else None


def starts_broker(script: str) -> bool:
    """Whether a script starts a broker as images do."""
    return _STARTS_BROKER.search(script) is not None


def parse_image(text: str) -> ImageReference:
    """Split `[registry/]repository[:tag][@digest]`; a registry in front of a known repository does not hide it."""
    without_digest = text.partition("@")[0]
    head, slash, last = without_digest.rpartition("/")
    name, _, tag = last.partition(":")
    repository = f"{head}{slash}{name}"
    short = "/".join(repository.split("/")[-2:])
    family = _REPOSITORIES.get(short, ImageFamily.OTHER)
    return ImageReference(
        text=text,
        repository=repository,
        tag=tag or None,
        family=family,
        kafka_version=_kafka_version(short, family, tag),
    )


def _kafka_version(repository: str, family: ImageFamily, tag: str) -> KafkaVersion | None:
    match family:
        case ImageFamily.WURSTMEISTER:
            return version_of(_LAST_OF_WURSTMEISTER if is_floating(tag or None) else _SCALA.sub("", tag))
        case ImageFamily.BITNAMI:
            if is_floating(tag or None) and repository.startswith("bitnamilegacy/"):
                return KafkaVersion(4, 0, 0)
            return _MAJORS.get(tag) or version_of(tag)
        case ImageFamily.DEBEZIUM:
            own = version_of(tag)
            return version_of(_DEBEZIUM.get((own.major, own.minor), "")) if own else None
        case ImageFamily.STRIMZI:
            return version_of(tag.rpartition("kafka-")[2]) if "kafka-" in tag else None
        case ImageFamily.FAST_DATA_DEV:
            return version_of(tag) if repository.endswith("fast-data-dev") else None
        case ImageFamily.APACHE:
            return version_of(tag)
        case ImageFamily.CONFLUENT | ImageFamily.CONFLUENT_LOCAL:
            return _of_confluent(tag)
        case _:
            return None


def _of_confluent(tag: str) -> KafkaVersion | None:
    """Confluent Platform 7.n carries Apache Kafka 3.n, 8.n carries 4.n, 5.n and 6.n carry 2.n, 4.n carries 1.n."""
    own = version_of(tag)
    if own is None or own.major < 3:
        return None
    ancient = (0, 11 if own.minor >= 3 else 10)
    offset = {3: ancient, 4: (1, own.minor), 5: (2, own.minor), 6: (2, own.minor + 6)}
    return KafkaVersion(*offset.get(own.major, (own.major - 4, own.minor)), own.patch if own.major >= 7 else None)


def version_of(text: str) -> KafkaVersion | None:
    """The release that a text begins with; None where it begins with none."""
    match = _VERSION.match(text)
    if match is None:
        return None
    patch = int(match[3]) if match[3] and match[3] != "x" else None
    return KafkaVersion(int(match[1]), int(match[2]), patch)


def is_floating(tag: str | None) -> bool:
    """Whether a tag moves with every release: none, `latest` and its variants."""
    return tag is None or _LATEST.fullmatch(tag) is not None


def is_scala_tag(tag: str) -> bool:
    """Whether a tag names Scala's version before Kafka's."""
    return _SCALA.match(tag) is not None
