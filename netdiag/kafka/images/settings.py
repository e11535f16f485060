"""What an image makes of its environment: broker settings with their provenance, or a refusal."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class Provenance(Enum):
    """Where a setting comes from."""

    VARIABLE = "variable"
    DERIVED = "derived"
    IMAGE_DEFAULT = "image default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One broker property. `variable` names the environment variable behind it; a value of None is unknown."""

    name: str
    value: str | None
    variable: str | None
    provenance: Provenance = Provenance.VARIABLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """The image's start script ends before Kafka starts, printing `prints`; `variable` is at fault or missing."""

    prints: str
    variable: str
    missing: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageSettings:
    """The properties an image hands to Kafka, and the refusal that keeps it from doing so."""

    settings: Mapping[str, Setting] = field(default_factory=dict)
    refusal: Refusal | None = None


def property_name(variable: str, prefix: str) -> str:
    """The property a variable names on apache and Confluent images: `_` is a dot, `__` an underscore, `___` a dash.

    Source: `KafkaDockerWrapper.getKafkaConfigFromEnv` and Confluent's template helper; the latter's prose
    documentation gives the last two the other way round.
    """
    dotted = variable.replace(prefix, "").lower().replace("_", ".")
    return dotted.replace("...", "-").replace("..", "_")


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
