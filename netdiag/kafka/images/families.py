"""The families of images: which an image belongs to, whether it runs a broker, and what it makes of its environment.

To add one, write a module with its `FAMILY`, a member of `ImageFamily`, and name it in `FAMILIES`.
"""

from collections.abc import Collection
from enum import Enum

from netdiag.kafka.images import (
    apache,
    bitnami,
    confluent,
    debezium,
    fast_data_dev,
    redpanda,
    strimzi,
    unknown,
    wurstmeister,
)
from netdiag.kafka.images.reference import Environment, Family, ImageFamily, ImageReference, is_floating
from netdiag.kafka.images.settings import ImageSettings, Launch
from netdiag.patterns import regex


class Sign(Enum):
    """What tells that a container runs a broker."""

    IMAGE = "a known image, started in its own way"
    COMMAND = "an unknown image, started as Kafka is"
    SCRIPT = "a script of somebody's own, and variables of a broker"
    VARIABLES = "an unknown image, and variables of a broker"
    FILE = "an unknown image, and a properties file of a broker"
    NAME = "an unknown image that is called kafka"
    PORT = "an unknown image with a broker's port, and ZooKeeper for it"


OTHER = Family(
    id=ImageFamily.OTHER,
    repositories=(),
    settings=lambda environment, image, launch: unknown.settings(environment),
    version=lambda repository, tag: None,
)
FAMILIES = {
    family.id: family
    for family in (
        apache.FAMILY,
        confluent.FAMILY,
        confluent.LOCAL,
        confluent.ZOOKEEPER,
        bitnami.FAMILY,
        wurstmeister.FAMILY,
        debezium.FAMILY,
        strimzi.FAMILY,
        fast_data_dev.FAMILY,
        redpanda.FAMILY,
        OTHER,
    )
}
_BY_REPOSITORY = {repository: family for family in FAMILIES.values() for repository in family.repositories}
# What a replaced command must hold for the container still to run a broker.
_STARTS_BROKER = regex(
    "|".join(("kafka-server-start", *(script for family in FAMILIES.values() for script in family.start_scripts)))
)
# The same for a machine with Kafka on it that is no image of Kafka.
_STARTS_KAFKA = regex(r"kafka-server-start(?:\.sh)?\b|\bstart-kafka(?:\.sh)?(?![\w.-])")
# A command that is a script in a file, behind an init and a shell or not; what is written out in the command was read.
_SCRIPT = regex(
    r"(?:\S*(?:tini|dumb-init)\s+(?:-\S+\s+)*)?(?:(?:\S*/)?(?:ba|da|a)?sh\s+(?:-[eux]+\s+)*)?"
    r"(?P<path>\.{0,2}/\S*[^\s/]|[\w.-]+\.sh)(?:\s|$)"
)
_STARTS = regex(r"kafka|broker|entrypoint|start")
_JOB = regex(r"topic|init|setup|create|wait|health|test|sleep|tail|java$")
_CALLED_KAFKA = frozenset({"kafka", "kafka-broker", "kafka-server"})
# Ports on which brokers listen by custom, with a digit in front for the host's: 9092, 9093, 19092, 29094.
_BROKER_PORT = regex(r"\d?909[2-9]")
_WORDS = regex(r"[-_.]")
# What has "kafka" in its name and takes a broker's variables for something else, or for nothing.
_BESIDE = regex(r"connect|registry|rest|ui|exporter|ksql|cli|client|init|setup|topic|mirror|manager|zookeeper|cat")


def parse_image(text: str) -> ImageReference:
    """Split `[registry/]repository[:tag][@digest]`; a registry in front of a known repository does not hide it."""
    without_digest = text.partition("@")[0]
    head, slash, last = without_digest.rpartition("/")
    name, _, tag = last.partition(":")
    repository = f"{head}{slash}{name}"
    short = "/".join(repository.split("/")[-2:])
    family = _BY_REPOSITORY.get(short, OTHER)
    is_pinned = "@" in text or last.endswith(":")
    return ImageReference(
        text=text,
        repository=repository,
        tag=tag or None,
        family=family.id,
        kafka_version=family.version(short, tag),
        is_newest=is_floating(tag or None) and not is_pinned and short not in family.frozen,
    )


def runs_broker(
    image: str, command: str, environment: Environment | None = None, *, is_published: bool = False
) -> bool:
    """Whether a container of this image runs a broker, or looks like it."""
    return sign_of_broker(image, command, environment, is_published=is_published) is not None


def sign_of_broker(
    image: str,
    command: str,
    environment: Environment | None = None,
    *,
    is_published: bool = False,
    ports: Collection[int] = (),
) -> Sign | None:
    """What tells that a container of this image runs a broker; None where nothing does.

    `command` replaces the image's own, empty where none does; `is_published`: whether ports of it are; `ports`: which
    ones of the container. Init jobs and shells are often started from a broker's image, and share its variables: a
    script that is not known is a broker's only where a port is published or it is called like one that starts a broker,
    and what has no more than the name of a broker only where a port is published.
    """
    reference = parse_image(image)
    variables = environment or {}
    name = reference.repository.rpartition("/")[2]
    if reference.family is ImageFamily.CONFLUENT_ZOOKEEPER or _is_beside(reference):
        return None
    offers_broker = any(_BROKER_PORT.fullmatch(str(port)) for port in ports)
    if command and _STARTS_BROKER.search(command) is None:
        if not _is_own_start(command, is_published=is_published):
            return None
        if unknown.telling_variable(variables):
            return Sign.SCRIPT
        return Sign.PORT if offers_broker and variables.get(unknown.ZOOKEEPER) else None
    if reference.family is not ImageFamily.OTHER:
        return Sign.IMAGE if FAMILIES[reference.family].runs_broker(variables, command) else None
    if unknown.telling_variable(variables):
        return Sign.VARIABLES
    if _STARTS_KAFKA.search(command):
        return Sign.COMMAND
    if command:
        return None
    if (name in _CALLED_KAFKA and is_published) or (offers_broker and "kafka" in _WORDS.split(name)):
        return Sign.NAME
    return Sign.PORT if offers_broker and variables.get(unknown.ZOOKEEPER) else None


def may_start_broker(image: str, command: str) -> bool:
    """Whether a container of an image that nobody knows could start a broker, for all that its command says."""
    reference = parse_image(image)
    if reference.family is not ImageFamily.OTHER or _is_beside(reference):
        return False
    return not command or bool(_STARTS_BROKER.search(command)) or _is_own_start(command, is_published=False)


def _is_beside(reference: ImageReference) -> bool:
    name = reference.repository.rpartition("/")[2]
    return reference.family is ImageFamily.OTHER and bool(_BESIDE.search(name))


def _is_own_start(command: str, *, is_published: bool) -> bool:
    """Whether a command is a script of somebody's own that may start a broker."""
    script = (script_of(command) or "").rpartition("/")[2]
    return bool(script) and not _JOB.search(script) and (is_published or bool(_STARTS.search(script)))


def script_of(command: str) -> str | None:
    """The path of the script that a command is, where it is one that starts no broker by its name."""
    match = _SCRIPT.match(command)
    return match["path"] if match is not None and _STARTS_BROKER.search(command) is None else None


def starts_broker(script: str) -> bool:
    """Whether a script starts a broker as images do."""
    return _STARTS_BROKER.search(script) is not None


def image_settings(image: ImageReference, environment: Environment, launch: Launch) -> ImageSettings:
    """The properties the image hands to Kafka; none where it is not known."""
    return FAMILIES[image.family].settings(environment, image, launch)


def cluster_id(image: ImageReference, environment: Environment) -> str | None:
    """The cluster id that a node formats its storage with; None where it generates one, or a shell passes it on."""
    family = FAMILIES[image.family]
    names = family.cluster_id_variables
    given = next((name for name in names if name in environment), None)
    if given is not None and environment[given] is None:
        return None
    default = family.default_cluster_id(environment, image)
    return next((environment[name] for name in names if environment.get(name)), None) or default
