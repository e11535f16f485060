"""Variables of Bitnami's brokers that name a property of Kafka and lack the CFG_ that makes the image read them."""

from netdiag.deployment.member import Broker
from netdiag.kafka.images.bitnami import ALIASES_OF_EXPLICIT, OTHER_ALIASES, PREFIX, aliases, property_of
from netdiag.kafka.images.reference import ImageFamily, parse_image
from netdiag.kafka.property_names import PROPERTY_NAMES

# Names that other images share with a property, and that Bitnami's scripts use for themselves.
_THEIR_OWN = frozenset({"KAFKA_LOG_DIR", "KAFKA_PORT"})
_EASILY_MISTAKEN = ALIASES_OF_EXPLICIT | {"CONTROLLER_LISTENER_NAMES"}


def ignored_variables(broker: Broker) -> tuple[str, ...]:
    """The tails of KAFKA_ variables that name a property which they do not set, in order."""
    if broker.config.family is not ImageFamily.BITNAMI:
        return ()
    known = aliases(parse_image(broker.member.image))
    return tuple(
        sorted(
            tail
            for variable in broker.declared
            if variable.startswith("KAFKA_") and not variable.startswith(PREFIX) and variable not in _THEIR_OWN
            for tail in (variable.removeprefix("KAFKA_"),)
            if tail not in known and variable not in OTHER_ALIASES and property_of(tail) in PROPERTY_NAMES
            if PREFIX + tail not in broker.declared
        )
    )


def ignored_aliases(broker: Broker) -> tuple[str, ...]:
    """Those of them that look as if they were on the list of names without CFG_."""
    return tuple(tail for tail in ignored_variables(broker) if tail in _EASILY_MISTAKEN)
