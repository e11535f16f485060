"""wurstmeister/kafka: ZooKeeper only, up to Kafka 2.8.1; every KAFKA_ variable replaces a line of server.properties.

Source: `start-kafka.sh` of wurstmeister/kafka-docker, which all tags of the form scala-kafka share; older tags had
other scripts. Brokers before 3.0 still have advertised.host.name and advertised.port: what they make of them stands
here as advertised.listeners (`KafkaConfig.advertisedListeners` of Kafka 2.8).
"""

from collections.abc import Mapping

from netdiag.digits import number_of
from netdiag.kafka.images.reference import (
    Environment,
    Family,
    ImageFamily,
    ImageReference,
    KafkaVersion,
    is_floating,
    version_of,
)
from netdiag.kafka.images.settings import (
    ImageSettings,
    Launch,
    Provenance,
    Refusal,
    Setting,
    dotted_settings_from,
    image_default,
)
from netdiag.patterns import regex

EXCLUDED = frozenset(
    [
        "KAFKA_VERSION",
        "KAFKA_HOME",
        "KAFKA_DEBUG",
        "KAFKA_GC_LOG_OPTS",
        "KAFKA_HEAP_OPTS",
        "KAFKA_JMX_OPTS",
        "KAFKA_JVM_PERFORMANCE_OPTS",
        "KAFKA_LOG",
        "KAFKA_OPTS",
        "KAFKA_CREATE_TOPICS",
    ]
)
_MACROS = {"HOSTNAME_COMMAND": "_{HOSTNAME_COMMAND}", "PORT_COMMAND": "_{PORT_COMMAND}"}
_NAMED_PROTOCOLS = ("KAFKA_ADVERTISED_PROTOCOL_NAME", "KAFKA_PROTOCOL_NAME")
_SOCKET = "/var/run/docker.sock"
_DEFAULT_PORT = "9092"


def settings(environment: Environment, image: ImageReference, launch: Launch) -> ImageSettings:
    """The properties the image starts Kafka with, or the variable it stops at."""
    given = dotted_settings_from(environment, prefix="KAFKA_", excluded=EXCLUDED)
    made = {name: _expanded(setting, environment) for name, setting in given.items() if setting.value != ""}
    made.setdefault("broker.id", image_default("broker.id", None if environment.get("BROKER_ID_COMMAND") else "-1"))
    if "listeners" not in made:
        made["listeners"] = _listeners(made)
    if "advertised.listeners" not in made:
        advertised = _advertised(environment, made, launch, bare="listeners" not in given)
        if advertised is not None:
            made["advertised.listeners"] = advertised
    if not _is_known_script(image) and any(environment.get(name) for name in _NAMED_PROTOCOLS):
        # Those scripts make both lists of names, hosts and ports that they find out when they run.
        made |= {name: image_default(name, None) for name in ("listeners", "advertised.listeners")}
    if environment.get("CUSTOM_INIT_SCRIPT"):
        # It runs between the script and the broker, usually in order to change the file.
        made |= {name: image_default(name, None) for name in ("listeners", "advertised.listeners")}
    return ImageSettings(settings=made, refusal=_refusal(environment, image))


def _expanded(setting: Setting, environment: Environment) -> Setting:
    """A setting whose text the script completes at run time is unknown."""
    for command, macro in _MACROS.items():
        if environment.get(command) and setting.value is not None and macro in setting.value:
            return Setting(name=setting.name, value=None, variable=setting.variable)
    return setting


def _listeners(made: Mapping[str, Setting]) -> Setting:
    """What Kafka before 3.0 makes of `host.name` and `port` without `listeners`."""
    host, port = made.get("host.name"), made.get("port")
    if any(setting is not None and setting.value is None for setting in (host, port)):
        return image_default("listeners", None)
    text = f"PLAINTEXT://{(host.value if host else None) or ''}:{port.value if port else _DEFAULT_PORT}"
    variable = (host or port or image_default("", None)).variable
    provenance = Provenance.DERIVED if variable else Provenance.IMAGE_DEFAULT
    return Setting(name="listeners", value=text, variable=variable, provenance=provenance)


def _advertised(environment: Environment, made: Mapping[str, Setting], launch: Launch, *, bare: bool) -> Setting | None:
    """What Kafka before 3.0 makes of `advertised.host.name` and `advertised.port`; None where neither is given.

    With the engine's socket at hand and nothing else said (`bare`), the script asks the engine for the published port.
    """
    host, port = made.get("advertised.host.name"), made.get("advertised.port")
    hostname_command = bare and host is None and bool(environment.get("HOSTNAME_COMMAND"))
    source = host or port
    variable = "HOSTNAME_COMMAND" if hostname_command else source.variable if source else None
    if variable is None:
        return None
    bound = made.get("port")
    number = port.value if port else bound.value if bound else _DEFAULT_PORT
    if port is None and bare:
        number = _asked(number, launch)
    name = (host.value if host else "") if not hostname_command else None
    value = None if name is None or number is None else f"PLAINTEXT://{name}:{number}"
    return Setting(name="advertised.listeners", value=value, variable=variable, provenance=Provenance.DERIVED)


def _asked(bound: str | None, launch: Launch) -> str | None:
    """The port that the engine is asked for, where its socket is mounted; None where that cannot be told."""
    if launch.mounts is not None and _SOCKET not in launch.mounts:
        return bound
    port = number_of(bound or "")
    published = None if port is None else launch.published.get(port)
    if launch.mounts is None and str(published) != bound:
        return None
    return str(published) if published else None


def _is_known_script(image: ImageReference) -> bool:
    """Whether the image starts with the script that is described here: tags such as 1.0.0 have older ones."""
    return image.tag in (None, "latest") or _is_scala_tag(image.tag or "")


def _refusal(environment: Environment, image: ImageReference) -> Refusal | None:
    """The first check of the start script that fails; of an older script nothing is known."""
    if not _is_known_script(image):
        return None
    if environment.get("KAFKA_ZOOKEEPER_CONNECT", "") == "":
        prints = "ERROR: missing mandatory config: KAFKA_ZOOKEEPER_CONNECT"
        return Refusal(prints=prints, variable="KAFKA_ZOOKEEPER_CONNECT", missing=True)
    if environment.get("KAFKA_ADVERTISED_HOST_NAME", "") != "" or environment.get("KAFKA_LISTENERS", "") != "":
        return None
    if environment.get("KAFKA_ADVERTISED_LISTENERS", "") != "":
        prints = "ERROR: Missing environment variable KAFKA_LISTENERS."
        return Refusal(prints=prints, variable="KAFKA_LISTENERS", missing=True)
    if environment.get("HOSTNAME_COMMAND", "") == "":
        prints = "ERROR: No listener or advertised hostname configuration provided in environment."
        return Refusal(prints=prints, variable="KAFKA_LISTENERS", missing=True)
    return None


_SCALA = regex(r"2\.1\d-(?=\d)")
_LAST = "2.8.1"


def _is_scala_tag(tag: str) -> bool:
    return _SCALA.match(tag) is not None


def _version(repository: str, tag: str) -> KafkaVersion | None:
    return version_of(_LAST if is_floating(tag or None) else _SCALA.sub("", tag))


_REPOSITORY = "wurstmeister/kafka"
FAMILY = Family(
    id=ImageFamily.WURSTMEISTER,
    repositories=(_REPOSITORY,),
    settings=settings,
    version=_version,
    start_scripts=("start-kafka",),
    frozen=(_REPOSITORY,),
)
