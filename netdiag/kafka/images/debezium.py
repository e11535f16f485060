"""debezium/kafka: a few short variables (HOST_NAME, ADVERTISED_HOST_NAME, ...) beside KAFKA_ ones.

Source: `docker-entrypoint.sh` of debezium/container-images, folders kafka/1.0 to kafka/3.7. Where no name is given, the
script takes the address of the container's last interface, which nobody here knows.
"""

from collections.abc import Mapping

from netdiag.kafka.images.reference import Environment, Family, ImageFamily, ImageReference, KafkaVersion, version_of
from netdiag.kafka.images.settings import (
    KRAFT_PROPERTIES,
    ImageSettings,
    Provenance,
    Setting,
    dotted_settings_from,
    image_default,
    with_defaults,
)

EXCLUDED = frozenset({"KAFKA_VERSION", "KAFKA_HOME", "KAFKA_LOG4J_OPTS", "KAFKA_JMX_OPTS", "KAFKA_DATA"})
# What the script takes away again after it has used it.
_USED_UP = ("KAFKA_HOST_NAME", "KAFKA_ADVERTISED_HOST_NAME", "KAFKA_PORT", "KAFKA_ADVERTISED_PORT")
DEFAULT_CLUSTER_ID = "ldlg5yhkQeWtnUrZrC6edg"
_ROLES = {"broker": "broker", "controller": "controller"}


def settings(environment: Environment, image: ImageReference) -> ImageSettings:
    """The properties the image starts Kafka with."""
    excluded = EXCLUDED | frozenset(_USED_UP)
    given = dotted_settings_from(environment, prefix="KAFKA_", excluded=excluded)
    given = {name: setting for name, setting in given.items() if setting.value != "" or "listeners" not in name}
    for name in ("zookeeper.connect", "node.id", "broker.id"):
        given.pop(name, None)
    number = next((name for name in ("NODE_ID", "BROKER_ID") if environment.get(name, "") != ""), None)
    for name in ("node.id", "broker.id"):
        value = environment[number] if number else "1"
        given[name] = Setting(name=name, value=value, variable=number, provenance=_provenance(number))
    if is_kraft(environment, image):
        return ImageSettings(settings=_kraft(given, environment, image))
    zookeeper = environment.get("ZOOKEEPER_CONNECT", "")
    # Without it, the script looks for variables of container links.
    given["zookeeper.connect"] = (
        Setting(name="zookeeper.connect", value=zookeeper, variable="ZOOKEEPER_CONNECT")
        if zookeeper != ""
        else image_default("zookeeper.connect", "0.0.0.0:2181" if not _is_linked(environment) else None)
    )
    given.setdefault("listeners", _listeners(environment))
    given.setdefault("advertised.listeners", _advertised(environment))
    return ImageSettings(settings=given)


def is_kraft(environment: Environment, image: ImageReference) -> bool:
    """Whether the script starts a KRaft node: with a cluster id, since Kafka 4.0 always."""
    newest = image.is_newest or (image.kafka_version is not None and image.kafka_version.at_least(4))
    return newest or environment.get("CLUSTER_ID", "") != ""


def _kraft(given: Mapping[str, Setting], environment: Environment, image: ImageReference) -> dict[str, Setting]:
    role = environment.get("NODE_ROLE", "combined")
    roles = None if role is None else _ROLES.get(role, "broker,controller")
    advertised = _advertised(environment)
    defaults = {**KRAFT_PROPERTIES, "process.roles": roles, "listeners": None, "controller.quorum.voters": None}
    del defaults["advertised.listeners"], defaults["node.id"]
    made = with_defaults(given, defaults)
    made.setdefault("advertised.listeners", advertised)
    if roles == "broker,controller" and "listeners" not in given:
        bound = _listeners(environment)
        port = environment.get("CONTROLLER_PORT", "9093")
        value = None if bound.value is None or port is None else f"{bound.value},CONTROLLER://:{port or 9093}"
        made["listeners"] = Setting(name="listeners", value=value, variable=bound.variable, provenance=bound.provenance)
    return made


def _provenance(variable: str | None) -> Provenance:
    return Provenance.VARIABLE if variable else Provenance.IMAGE_DEFAULT


def _is_linked(environment: Environment) -> bool:
    return any(name.endswith("PORT_2181_TCP") for name in environment)


def _first(environment: Environment, *names: str) -> tuple[str | None, str | None]:
    """The first variable that is set, with its value; neither where none is."""
    for name in names:
        if environment.get(name, "") != "":
            return name, environment[name]
    return None, ""


def _listeners(environment: Environment) -> Setting:
    """The listener that the script makes up: at the container's address, which is all that its network reaches."""
    variable, host = _first(environment, "KAFKA_HOST_NAME", "HOST_NAME")
    other, port = _first(environment, "KAFKA_PORT", "PORT")
    value = None if host is None or port is None else f"PLAINTEXT://{host}:{port or 9092}"
    return _setting("listeners", value, variable or other)


def _advertised(environment: Environment) -> Setting:
    """What the script tells clients; unknown where that is the container's address."""
    variable, host = _first(
        environment, "KAFKA_ADVERTISED_HOST_NAME", "ADVERTISED_HOST_NAME", "KAFKA_HOST_NAME", "HOST_NAME"
    )
    _, port = _first(environment, "KAFKA_ADVERTISED_PORT", "ADVERTISED_PORT")
    value = f"PLAINTEXT://{host}:{port or 9092}" if host and port is not None else None
    return _setting("advertised.listeners", value, variable)


def _setting(name: str, value: str | None, variable: str | None) -> Setting:
    provenance = Provenance.DERIVED if variable else Provenance.IMAGE_DEFAULT
    return Setting(name=name, value=value, variable=variable, provenance=provenance)


# Debezium's releases have numbers of their own: KAFKA_VERSION in the Dockerfiles of debezium/container-images.
_VERSIONS = {
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


def _version(repository: str, tag: str) -> KafkaVersion | None:
    own = version_of(tag)
    return version_of(_VERSIONS.get((own.major, own.minor), "")) if own else None


FAMILY = Family(
    id=ImageFamily.DEBEZIUM,
    repositories=("debezium/kafka",),
    settings=lambda environment, image, launch: settings(environment, image),
    version=_version,
    start_scripts=(r"^(?:/docker-entrypoint\.sh )?start$",),
    default_cluster_id=lambda environment, image: DEFAULT_CLUSTER_ID if is_kraft(environment, image) else None,
    volumes=("/kafka/data", "/kafka/logs", "/kafka/config"),
)
