"""What an image makes of its environment: broker settings with their provenance, or a refusal.

Some images start from config/kraft/server.properties, which every Kafka download brings (2.8 to 4.3): the listener and
voter lines are the same in all of them, except that 4.1 names bootstrap servers instead of voters.
"""

import re
from collections.abc import Mapping
from dataclasses import field
from enum import Enum

from netdiag.values import dataclass


class Provenance(Enum):
    """Where a setting comes from."""

    VARIABLE = "variable"
    DERIVED = "derived"
    IMAGE_DEFAULT = "image default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One broker property; a value of None is unknown.

    `variable` says under what it is written: an environment variable, a flag, `listeners in server.properties`.
    """

    name: str
    value: str | None
    variable: str | None
    provenance: Provenance = Provenance.VARIABLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """The image's start script ends before Kafka starts, printing `prints`; `variable` is at fault or missing.

    `also_missing` are those that it would miss next.
    """

    prints: str
    variable: str
    missing: bool
    also_missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageSettings:
    """The properties an image hands to Kafka, and the refusal that keeps it from doing so."""

    settings: Mapping[str, Setting] = field(default_factory=dict)
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How a container of the image is started, for images that look at more than variables.

    `command` is the words that replace the image's own, empty where none do; `mounts` are the paths inside that
    come from outside, None where nobody can tell; `published` leads from a container port to the host port, None for
    any free one.
    """

    command: tuple[str, ...] = ()
    mounts: tuple[str, ...] | None = ()
    published: Mapping[int, int | None] = field(default_factory=dict)


def property_name(variable: str, prefix: str) -> str:
    """The property a variable names on apache and Confluent images: `_` is a dot, `__` an underscore, `___` a dash.

    Source: `KafkaDockerWrapper.getKafkaConfigFromEnv` and Confluent's template helper; the latter's prose
    documentation gives the last two the other way round.
    """
    return unescaped(variable.replace(prefix, ""))


def unescaped(rest: str) -> str:
    """The property that a variable without its prefix names."""
    return rest.lower().replace("_", ".").replace("...", "-").replace("..", "_")


def dotted_name(variable: str, prefix: str) -> str:
    """The property a variable names on images that know no escapes: every `_` is a dot."""
    return variable.removeprefix(prefix).lower().replace("_", ".")


def settings_from(
    environment: Mapping[str, str | None], *, prefix: str, excluded: frozenset[str]
) -> dict[str, Setting]:
    """Every variable with the prefix as a setting; of two variables for one property the later name wins."""
    settings: dict[str, Setting] = {}
    for variable in sorted(environment):
        if not variable.startswith(prefix) or variable in excluded:
            continue
        name = property_name(variable, prefix)
        if name:
            settings[name] = Setting(name=name, value=environment[variable], variable=variable)
    return settings


def dotted_settings_from(
    environment: Mapping[str, str | None], *, prefix: str, excluded: frozenset[str]
) -> dict[str, Setting]:
    """Every variable with the prefix as a setting, for images that know no escapes."""
    return {
        dotted_name(variable, prefix): Setting(
            name=dotted_name(variable, prefix), value=environment[variable], variable=variable
        )
        for variable in sorted(environment)
        if variable.startswith(prefix) and variable != prefix and variable not in excluded
    }


def image_default(name: str, value: str | None) -> Setting:
    """A setting of the image itself; its value is None where it is not known."""
    return Setting(name=name, value=value, variable=None, provenance=Provenance.IMAGE_DEFAULT)


def with_defaults(settings: Mapping[str, Setting], defaults: Mapping[str, str | None]) -> dict[str, Setting]:
    """The settings on top of the image's defaults."""
    return {**{name: image_default(name, value) for name, value in defaults.items()}, **settings}


def is_yes(value: str | None) -> bool:
    """Whether a start script of Bitnami takes a value for true."""
    return value is not None and value.lower() in ("1", "yes", "true")


def derived_listeners(advertised: str, *, pattern: str) -> str:
    """The `listeners` an image makes from `advertised.listeners`: every host becomes 0.0.0.0."""
    return re.sub(pattern, "://0.0.0.0:", advertised)


def with_derived_listeners(settings: Mapping[str, Setting], *, pattern: str) -> dict[str, Setting]:
    """The settings with `listeners` derived from `advertised.listeners` where only the latter is given."""
    result = dict(settings)
    advertised = settings.get("advertised.listeners")
    listeners = settings.get("listeners")
    if advertised is not None and (listeners is None or listeners.value == ""):
        value = None if advertised.value is None else derived_listeners(advertised.value, pattern=pattern)
        result["listeners"] = Setting(
            name="listeners", value=value, variable=advertised.variable, provenance=Provenance.DERIVED
        )
    return result


KRAFT_PROPERTIES: dict[str, str | None] = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.quorum.voters": "1@localhost:9093",
    "listeners": "PLAINTEXT://:9092,CONTROLLER://:9093",
    "inter.broker.listener.name": "PLAINTEXT",
    "advertised.listeners": "PLAINTEXT://localhost:9092",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": (
        "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL"
    ),
}
ZOOKEEPER_PROPERTIES: dict[str, str | None] = {"broker.id": "0", "zookeeper.connect": "localhost:2181"}
