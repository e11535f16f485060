"""bitnami/kafka, its frozen copy bitnamilegacy/kafka and its forks: KAFKA_CFG_ variables, and defaults by generation.

Sources: `kafka-env.sh` and `libkafka.sh` of bitnami/containers, folders 2, 3.0 to 3.8 and 4.0 to 4.3; the notable
changes in the README of bitnami/kafka there, with the tags at which the scripts changed. A tag without a revision was
moved with every build, so it stands for the last one of its release. What the scripts check of single properties
(controller listeners, voters, node id) is left to the rules about these properties.
"""

import re
from collections.abc import Mapping
from enum import Enum

from netdiag.kafka.images.reference import (
    ContainerUser,
    Environment,
    Family,
    ImageFamily,
    ImageReference,
    KafkaVersion,
    is_floating,
    version_of,
)
from netdiag.kafka.images.settings import (
    KRAFT_PROPERTIES,
    ImageSettings,
    Provenance,
    Refusal,
    Setting,
    dotted_name,
    image_default,
    is_yes,
    with_defaults,
)
from netdiag.patterns import regex


class Generation(Enum):
    """What the scripts assume where no variable decides.

    ZOOKEEPER has defaults for listeners and for a ZooKeeper on localhost, KRAFT for a single KRaft node unless
    KAFKA_ENABLE_KRAFT says no, EXPLICIT for nothing; UNKNOWN may be any of them.
    """

    ZOOKEEPER = "zookeeper"
    KRAFT = "kraft"
    EXPLICIT = "explicit"
    UNKNOWN = "unknown"


_REVISION = regex(r"-r(\d{1,9})(?:-|$)")
# Release: first revision with KRaft as its default, first revision without defaults; None where there was none.
_CHANGED: dict[tuple[int, int, int], tuple[int | None, int | None]] = {
    (3, 2, 3): (73, 161),
    (3, 3, 2): (29, 176),
    (3, 4, 0): (23, None),
    (3, 4, 1): (0, 50),
    (3, 5, 0): (0, None),
    (3, 5, 1): (0, 4),
}
# The last patch release of the minor ones in which the scripts changed.
_LAST_PATCH = {(3, 2): 3, (3, 3): 2, (3, 4): 1, (3, 5): 2}


def generation(tag: str | None, version: KafkaVersion | None) -> Generation:
    """The generation of a tag; a missing or floating one is the newest."""
    if tag is None or tag == "latest":
        return Generation.EXPLICIT
    if version is None or not version.at_least(2):
        return Generation.UNKNOWN
    minor = (version.major, version.minor)
    if minor < (3, 2):
        return Generation.ZOOKEEPER
    if minor > (3, 5):
        return Generation.EXPLICIT
    patch = _LAST_PATCH[minor] if version.patch is None else version.patch
    release = (*minor, patch)
    if release not in _CHANGED:
        return Generation.EXPLICIT if minor == (3, 5) else Generation.ZOOKEEPER
    kraft, explicit = _CHANGED[release]
    revision = _REVISION.search(tag)
    if explicit is not None and (revision is None or int(revision[1]) >= explicit):
        return Generation.EXPLICIT
    if kraft is not None and (revision is None or int(revision[1]) >= kraft):
        return Generation.KRAFT
    return Generation.ZOOKEEPER


PREFIX = "KAFKA_CFG_"
# The properties that may be given without CFG_ as well, by their variables' tails.
ALIASES = frozenset(
    [
        "ADVERTISED_LISTENERS",
        "BROKER_ID",
        "DEFAULT_REPLICATION_FACTOR",
        "DELETE_TOPIC_ENABLE",
        "INTER_BROKER_LISTENER_NAME",
        "LISTENERS",
        "LISTENER_SECURITY_PROTOCOL_MAP",
        "LOG_DIRS",
        "LOG_FLUSH_INTERVAL_MESSAGES",
        "LOG_FLUSH_INTERVAL_MS",
        "LOG_MESSAGE_FORMAT_VERSION",
        "LOG_RETENTION_BYTES",
        "LOG_RETENTION_CHECK_INTERVALS_MS",
        "LOG_RETENTION_HOURS",
        "LOG_SEGMENT_BYTES",
        "MESSAGE_MAX_BYTES",
        "NUM_IO_THREADS",
        "NUM_NETWORK_THREADS",
        "NUM_PARTITIONS",
        "NUM_RECOVERY_THREADS_PER_DATA_DIR",
        "OFFSETS_TOPIC_REPLICATION_FACTOR",
        "SOCKET_RECEIVE_BUFFER_BYTES",
        "SOCKET_REQUEST_MAX_BYTES",
        "SOCKET_SEND_BUFFER_BYTES",
        "SSL_ENDPOINT_IDENTIFICATION_ALGORITHM",
        "TRANSACTION_STATE_LOG_MIN_ISR",
        "TRANSACTION_STATE_LOG_REPLICATION_FACTOR",
        "ZOOKEEPER_CONNECT",
        "ZOOKEEPER_CONNECTION_TIMEOUT_MS",
    ]
)
ALIASES_OF_EXPLICIT = ALIASES | {"NODE_ID", "CONTROLLER_QUORUM_VOTERS", "PROCESS_ROLES"}
OTHER_ALIASES = {
    "KAFKA_LOGS_DIRS": "LOG_DIRS",
    "KAFKA_SEGMENT_BYTES": "LOG_SEGMENT_BYTES",
    "KAFKA_MAX_MESSAGE_BYTES": "MESSAGE_MAX_BYTES",
    "KAFKA_ZOOKEEPER_CONNECT_TIMEOUT_MS": "ZOOKEEPER_CONNECTION_TIMEOUT_MS",
    "KAFKA_AUTO_CREATE_TOPICS_ENABLE": "AUTO_CREATE_TOPICS_ENABLE",
}
_COMMANDS = {
    "KAFKA_NODE_ID_COMMAND": ("node.id",),
    "KAFKA_CONTROLLER_QUORUM_VOTERS_COMMAND": ("controller.quorum.voters",),
    "KAFKA_BROKER_ID_COMMAND": ("broker.id",),
    "BROKER_ID_COMMAND": ("broker.id",),
}
_ONE_LISTENER = {"listeners": "PLAINTEXT://:9092", "advertised.listeners": "PLAINTEXT://:9092"}
_VITAL = (
    "process.roles",
    "node.id",
    "listeners",
    "advertised.listeners",
    "listener.security.protocol.map",
    "inter.broker.listener.name",
    "controller.listener.names",
    "controller.quorum.voters",
)
_MAP = "listener.security.protocol.map"


def settings(environment: Environment, image: ImageReference) -> ImageSettings:
    """The properties the image starts Kafka with, or the variable it stops at."""
    era = generation(image.tag, image.kafka_version)
    given = _given(environment, era)
    for command, names in _COMMANDS.items():
        if environment.get(command):
            given.update({name: Setting(name=name, value=None, variable=command) for name in names})
    match era:
        case Generation.EXPLICIT:
            return _explicit(given, image)
        case Generation.KRAFT:
            return _kraft(given, environment)
        case Generation.ZOOKEEPER if not is_yes(environment.get("KAFKA_ENABLE_KRAFT")):
            return _zookeeper(given, environment)
        case Generation.ZOOKEEPER if is_yes(environment.get("KAFKA_ENABLE_KRAFT")):
            # The same script wrote the file that KRaft starts with, so the empty host is still its default.
            advertised = {"advertised.listeners": _ONE_LISTENER["advertised.listeners"]}
            return ImageSettings(settings=with_defaults(given, {**dict.fromkeys(_VITAL), **advertised}))
        case Generation.ZOOKEEPER | Generation.UNKNOWN:
            return ImageSettings(settings=with_defaults(given, dict.fromkeys(_VITAL)))


def aliases(image: ImageReference) -> frozenset[str]:
    """The variables that this image takes without CFG_, without their prefix."""
    explicit = generation(image.tag, image.kafka_version) in (Generation.EXPLICIT, Generation.UNKNOWN)
    return ALIASES_OF_EXPLICIT if explicit else ALIASES


def _given(environment: Environment, era: Generation) -> dict[str, Setting]:
    """What the variables say: an alias that is set, even to nothing, beats the name with CFG_."""
    explicit = era in (Generation.EXPLICIT, Generation.UNKNOWN)
    tails = ALIASES_OF_EXPLICIT if explicit else ALIASES
    sources = {tail: PREFIX + tail for tail in _tails(environment)}
    sources |= {tail: alias for alias, tail in OTHER_ALIASES.items() if alias in environment}
    sources |= {tail: f"KAFKA_{tail}" for tail in tails if f"KAFKA_{tail}" in environment}
    found: dict[str, Setting] = {}
    for tail, variable in sorted(sources.items()):
        name = property_of(tail)
        found[name] = Setting(name=name, value=environment[variable], variable=variable)
    return found


def property_of(tail: str) -> str:
    """The property of a variable's tail: every `_` is a dot, but for two names of protocols."""
    name = dotted_name(tail, "")
    return name.replace("sasl.ssl", "sasl_ssl").replace("sasl.plaintext", "sasl_plaintext")


def _tails(environment: Environment) -> tuple[str, ...]:
    return tuple(name.removeprefix(PREFIX) for name in environment if name.startswith(PREFIX) and name != PREFIX)


def _explicit(given: Mapping[str, Setting], image: ImageReference) -> ImageSettings:
    version = image.kafka_version
    made = dict(given)
    if version is not None and not version.at_least(3, 6) and _is_pinned(image.tag) and _MAP not in made:
        # The first builds of this generation wrote an empty map; later ones write none.
        made[_MAP] = image_default(_MAP, None)
    return ImageSettings(settings=made, refusal=_without_mode(given, version))


def _is_pinned(tag: str | None) -> bool:
    return tag is not None and re.search(r"-r\d+", tag) is not None


def _without_mode(given: Mapping[str, Setting], version: KafkaVersion | None) -> Refusal | None:
    """What the script prints where neither roles nor a ZooKeeper are given; both may be unknown.

    A moving tag with a ZooKeeper is left to the rule about releases without ZooKeeper.
    """
    if _is_given(given, "process.roles"):
        return None
    if (version is None or not version.at_least(4)) and _is_given(given, "zookeeper.connect"):
        return None
    old = version is not None and not version.at_least(4)
    prints = (
        "Kafka haven't been configured to work in either Raft or Zookeper mode."
        if old
        else "Kafka requires at least one process role to be set."
    )
    return Refusal(prints=prints, variable="KAFKA_CFG_PROCESS_ROLES", missing=True)


def _is_given(given: Mapping[str, Setting], name: str) -> bool:
    setting = given.get(name)
    return setting is not None and setting.value != ""


def _kraft(given: Mapping[str, Setting], environment: Environment) -> ImageSettings:
    """KRaft unless it is switched off; the map of the image's own file is not known for every build."""
    refusal = _plaintext_refused(given, environment)
    switch = environment.get("KAFKA_ENABLE_KRAFT", "yes")
    if switch is None:
        return ImageSettings(settings=with_defaults(given, dict.fromkeys(_VITAL)), refusal=refusal)
    if switch and not is_yes(switch):
        unknown = dict.fromkeys(("listeners", "advertised.listeners", _MAP))
        return ImageSettings(settings=_with_protocol(with_defaults(given, unknown)), refusal=refusal)
    pair = ("node.id", "controller.quorum.voters")
    for name, other in (pair, pair[::-1]):
        if _is_given(given, name) and not _is_given(given, other) and refusal is None:
            variable = PREFIX + other.upper().replace(".", "_")
            refusal = Refusal(prints=f"KRaft requires {variable} to be set", variable=variable, missing=True)
    defaults = {
        **KRAFT_PROPERTIES,
        "listeners": "PLAINTEXT://:9092,CONTROLLER://:9093",
        "advertised.listeners": "PLAINTEXT://:9092",
        _MAP: None,
    }
    return ImageSettings(settings=_with_protocol(with_defaults(_unless_empty(given), defaults)), refusal=refusal)


def _zookeeper(given: Mapping[str, Setting], environment: Environment) -> ImageSettings:
    defaults = {**_ONE_LISTENER, "zookeeper.connect": "localhost:2181"}
    return ImageSettings(
        settings=_with_protocol(with_defaults(_unless_empty(given), defaults)),
        refusal=_plaintext_refused(given, environment),
    )


def _unless_empty(given: Mapping[str, Setting]) -> dict[str, Setting]:
    """Without the variables with CFG_ that are set to nothing, for which the image's defaults hold."""
    return {
        name: setting
        for name, setting in given.items()
        if setting.value != "" or not (setting.variable or "").startswith(PREFIX)
    }


def _with_protocol(settings: dict[str, Setting]) -> dict[str, Setting]:
    """security.inter.broker.protocol as the older scripts take it from the map, by two names of listeners."""
    given = settings.get(_MAP)
    if given is None or given.value is None or _is_given(settings, "inter.broker.listener.name"):
        return settings
    for name in ("CLIENT", "INTERNAL"):
        found = re.search(rf"{name}:([a-zA-Z_]+)", given.value)
        if found:
            protocol = "security.inter.broker.protocol"
            made = Setting(name=protocol, value=found[1], variable=given.variable, provenance=Provenance.DERIVED)
            return {protocol: made, **settings}
    return settings


def _plaintext_refused(given: Mapping[str, Setting], environment: Environment) -> Refusal | None:
    """The check for ALLOW_PLAINTEXT_LISTENER that the older scripts make."""
    lists = [given[name] for name in ("listeners", _MAP) if name in given]
    known = [setting.value for setting in lists if setting.value is not None]
    secured = any("SSL" in value or "SASL" in value for value in known)
    allowed = environment.get("ALLOW_PLAINTEXT_LISTENER", "no")
    if secured or len(known) < len(lists) or allowed is None or is_yes(allowed):
        return None
    return Refusal(
        prints="The KAFKA_CFG_LISTENERS environment variable does not configure a secure listener.",
        variable="ALLOW_PLAINTEXT_LISTENER",
        missing=True,
    )


# Bitnami's tags of one number, by the last release that they stood for.
_MAJORS = {"2": KafkaVersion(2, 8), "3": KafkaVersion(3, 9), "4": KafkaVersion(4, 0)}


def _version(repository: str, tag: str) -> KafkaVersion | None:
    if is_floating(tag or None) and repository == _FROZEN:
        return KafkaVersion(4, 0, 0)
    return _MAJORS.get(tag) or version_of(tag)


_FROZEN = "bitnamilegacy/kafka"
FAMILY = Family(
    id=ImageFamily.BITNAMI,
    repositories=("bitnami/kafka", _FROZEN, "bitnamisecure/kafka", "soldevelo/kafka"),
    settings=lambda environment, image, launch: settings(environment, image),
    version=_version,
    start_scripts=(r"/opt/bitnami/scripts/kafka/(?:entrypoint|run)\.sh",),
    frozen=(_FROZEN,),
    cluster_id_variables=("KAFKA_CLUSTER_ID", "KAFKA_KRAFT_CLUSTER_ID"),
    data_directory="/bitnami/kafka/data",
    config_file=lambda environment: (
        f"{environment.get('KAFKA_MOUNTED_CONF_DIR', '/bitnami/kafka/config')}/server.properties"
    ),
    # The group is root's, so that platforms may choose any user.
    user=lambda image: ContainerUser(uid=1001, gid=0),
)
