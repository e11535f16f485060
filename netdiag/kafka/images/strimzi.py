"""Strimzi's images, whose command starts the broker: kafka-server-start FILE --override name=value.

Source: `kafka.Kafka.getPropsFromArgs`: overrides beat the file. The file is one of those that Kafka brings, as long as
its name is theirs; of another one nothing is known.
"""

from netdiag.kafka.images.reference import Environment, Family, ImageFamily, ImageReference, KafkaVersion, version_of
from netdiag.kafka.images.settings import (
    KRAFT_PROPERTIES,
    ZOOKEEPER_PROPERTIES,
    ImageSettings,
    Launch,
    Provenance,
    Setting,
    with_defaults,
)
from netdiag.patterns import regex

_START = regex(r"kafka-server-start(?:\.sh)?\s+(?P<rest>[^;|&\n]*)")
_OVERRIDE = regex(r"--override[\s=]+(?P<quote>[\"']?)(?P<name>[a-z][a-z0-9._\-]*)=(?P<value>[^\s\"']*)")
_REFERENCE = regex(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?")
_UNKNOWN = (*KRAFT_PROPERTIES, "zookeeper.connect")


def settings(environment: Environment, image: ImageReference, launch: Launch) -> ImageSettings:
    """The properties of the file that the command names, with the overrides on top."""
    started = _START.search(" ".join(launch.command))
    if started is None:
        return ImageSettings(settings=with_defaults({}, dict.fromkeys(_UNKNOWN)))
    rest = started["rest"]
    return ImageSettings(settings=with_defaults(given_overrides(rest, environment), _file(rest, image.kafka_version)))


def given_overrides(command: str, environment: Environment) -> dict[str, Setting]:
    """The `--override` options of a command; a value that is one variable is that variable's."""
    return {
        match["name"]: _setting(match["name"], match["value"], environment) for match in _OVERRIDE.finditer(command)
    }


def _setting(name: str, text: str, environment: Environment) -> Setting:
    whole = _REFERENCE.fullmatch(text)
    if whole and whole[1] in environment:
        return Setting(name=name, value=environment[whole[1]], variable=whole[1])
    value: str | None = text
    for reference in _REFERENCE.finditer(text):
        known = environment.get(reference[1])
        value = None if value is None or known is None else value.replace(reference[0], known)
    return Setting(name=name, value=value, variable=None, provenance=Provenance.DERIVED)


def _file(rest: str, version: KafkaVersion | None) -> dict[str, str | None]:
    words = rest.split()
    path = words[0] if words else ""
    if path.endswith("config/kraft/server.properties"):
        return dict(KRAFT_PROPERTIES)
    if path.endswith("config/server.properties") and version is not None:
        # Since 4.0 the KRaft file has this name.
        return dict(KRAFT_PROPERTIES if version.at_least(4) else ZOOKEEPER_PROPERTIES)
    return dict.fromkeys(_UNKNOWN)


FAMILY = Family(
    id=ImageFamily.STRIMZI,
    repositories=("strimzi/kafka",),
    settings=settings,
    version=lambda repository, tag: version_of(tag.rpartition("kafka-")[2]) if "kafka-" in tag else None,
    runs_broker=lambda environment, command: bool(command),
)
