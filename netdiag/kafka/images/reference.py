"""Image references, and what is known of a family of images."""

import dataclasses
from collections.abc import Callable, Mapping
from enum import Enum

from netdiag.kafka.images.settings import ImageSettings, Launch
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
    """An image name split up; `kafka_version` is None where the tag does not tell.

    `is_newest`: the tag stands for the newest release. It is none or `latest`, of an image that still gets releases.
    """

    text: str
    repository: str
    tag: str | None
    family: ImageFamily
    kafka_version: KafkaVersion | None
    is_newest: bool


Environment = Mapping[str, str | None]


def _version_of_tag(repository: str, tag: str) -> KafkaVersion | None:
    return version_of(tag)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerUser:
    """The user and group that a container's process runs as."""

    uid: int
    gid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """What is known of the images of a family.

    `settings` makes the broker's properties of the environment, the image and how it is started. `version` makes a
    release of a repository without its registry and a tag, which is empty where there is none. `start_scripts`:
    patterns of which a replaced command must hold one for the container still to run a broker. `runs_broker` says
    whether the image runs one with this environment and this command, empty where it is the image's own. `frozen`:
    repositories that get no releases any more. `user` is whom the image runs the broker as, None where nobody knows.
    `volumes`: the VOLUMEs of its Dockerfile; the engine makes an anonymous volume for each that nothing is mounted at.
    """

    id: ImageFamily
    repositories: tuple[str, ...]
    settings: Callable[[Environment, ImageReference, Launch], ImageSettings]
    version: Callable[[str, str], KafkaVersion | None] = _version_of_tag
    start_scripts: tuple[str, ...] = ()
    runs_broker: Callable[[Environment, str], bool] = lambda environment, command: True
    frozen: tuple[str, ...] = ()
    cluster_id_variables: tuple[str, ...] = ("CLUSTER_ID",)
    default_cluster_id: Callable[[Environment, ImageReference], str | None] = lambda environment, image: None
    data_directory: str = ""
    volumes: tuple[str, ...] = ()
    user: Callable[[ImageReference], ContainerUser | None] = lambda image: None
    config_file: Callable[[Environment], str | None] = lambda environment: None


_LATEST = regex(r"latest([.-].*)?")
_VERSION = regex(r"v?(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}|x))?")


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
