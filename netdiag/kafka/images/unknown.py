"""Images that netdiag does not know, with variables of a broker: what they set is known, the rest is not.

Images for Kafka without end take KAFKA_X_Y for the property x.y. Where both lists of listeners are given that way, they
are the broker's, whatever its start script does beside; nothing else is taken for granted.
"""

from collections.abc import Mapping

from netdiag.kafka.images.settings import (
    KRAFT_PROPERTIES,
    ImageSettings,
    Provenance,
    Setting,
    dotted_settings_from,
    with_defaults,
)
from netdiag.kafka.listeners import Voter, parse_listeners, parse_voters, well_formed

_LISTS = ("KAFKA_LISTENERS", "KAFKA_ADVERTISED_LISTENERS")


def looks_like_broker(environment: Mapping[str, str | None]) -> bool:
    """Whether the variables are those of a broker: both of its listener lists are given."""
    return all("://" in (environment.get(name) or "") for name in _LISTS)


def settings(environment: Mapping[str, str | None]) -> ImageSettings:
    """The properties that the variables set, on top of an unknown file."""
    if not looks_like_broker(environment):
        return ImageSettings()
    given: dict[str, Setting] = dotted_settings_from(environment, prefix="KAFKA_", excluded=frozenset())
    unknown = dict.fromkeys(name for name in KRAFT_PROPERTIES if name not in given)
    if "zookeeper.connect" in given:
        unknown.pop("process.roles", None)
    return ImageSettings(settings=with_defaults({**_from_voters(given), **given}, unknown))


def _from_voters(given: Mapping[str, Setting]) -> dict[str, Setting]:
    """What voters tell of the roles: Kafka refuses a voter that is no controller, and this node advertises as a broker.

    Its controller listener is the one with the voter's port.
    """
    voters = given.get("controller.quorum.voters")
    number = given.get("node.id") or given.get("broker.id")
    if voters is None or number is None:
        return {}
    own = [v for v in parse_voters(voters.value or "") if isinstance(v, Voter) and str(v.node_id) == number.value]
    listeners = well_formed(parse_listeners(given["listeners"].value or ""))
    names = [e.endpoint.listener for e in listeners if own and e.endpoint.port == own[0].port]
    if len(names) != 1:
        return {}
    found = {"process.roles": "broker,controller", "controller.listener.names": names[0]}
    return {
        name: Setting(name=name, value=value, variable=voters.variable, provenance=Provenance.DERIVED)
        for name, value in found.items()
    }
