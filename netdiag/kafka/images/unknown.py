"""Images and start scripts that netdiag does not know, with the variables of a broker: what they set is taken as set.

Nearly all images of Kafka take KAFKA_X_Y, or KAFKA_CFG_X_Y, for the property x.y; old ones take a host and a port to
advertise. Nothing else is taken for granted: a property that no variable sets is unknown, not Kafka's default.
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
from netdiag.patterns import regex

ZOOKEEPER = "KAFKA_ZOOKEEPER_CONNECT"
_CFG = "KAFKA_CFG_"
# Host and port to advertise: those that start-kafka.sh of wurstmeister/kafka and its many copies take, and those of
# spotify/kafka.
_ADDRESSES = (("KAFKA_ADVERTISED_HOST_NAME", "KAFKA_ADVERTISED_PORT"), ("ADVERTISED_HOST", "ADVERTISED_PORT"))
_IDENTITIES = ("process.roles", "node.id", "broker.id", "zookeeper.connect", "controller.quorum.voters")
# What a start script completes: _{HOSTNAME_COMMAND}, %HOSTNAME%, $(hostname), <ip>.
_MACRO = regex(r"_\{|\$[({A-Za-z]|`|%[A-Za-z]|<[A-Za-z]")


def telling_variable(environment: Mapping[str, str | None]) -> str | None:
    """The variable that only a broker has.

    These are its advertised listeners or address, listeners beside an id or a role, a role, and beside ZooKeeper an id
    or what start-kafka.sh of wurstmeister/kafka and its copies make an id, an address or topics of.
    """
    for prefix in ("KAFKA_", _CFG):
        if "://" in (environment.get(f"{prefix}ADVERTISED_LISTENERS") or ""):
            return f"{prefix}ADVERTISED_LISTENERS"
        identities = (prefix + name.replace(".", "_").upper() for name in _IDENTITIES)
        if "://" in (environment.get(f"{prefix}LISTENERS") or "") and any(map(environment.get, identities)):
            return f"{prefix}LISTENERS"
        if "broker" in (environment.get(f"{prefix}PROCESS_ROLES") or ""):
            return f"{prefix}PROCESS_ROLES"
    host, _ = _address(environment)
    if host is not None:
        return host
    beside = (
        "KAFKA_BROKER_ID",
        "KAFKA_ADVERTISED_PORT",
        "KAFKA_ADVERTISED_PROTOCOL_NAME",
        "KAFKA_CREATE_TOPICS",
        "BROKER_ID_COMMAND",
        "HOSTNAME_COMMAND",
        "PORT_COMMAND",
    )
    return next((name for name in beside if environment.get(ZOOKEEPER) and environment.get(name)), None)


def settings(environment: Mapping[str, str | None]) -> ImageSettings:
    """The properties that the variables set, on top of an unknown file."""
    if telling_variable(environment) is None:
        return ImageSettings()
    prefix = _CFG if any(name.startswith(_CFG) for name in environment) else "KAFKA_"
    given: dict[str, Setting] = dotted_settings_from(environment, prefix=prefix, excluded=frozenset())
    if "advertised.listeners" not in given:
        given |= _advertised(environment)
    return ImageSettings(settings=beside_unknown(given))


def beside_unknown(given: Mapping[str, Setting]) -> dict[str, Setting]:
    """The settings that are given, beside others that nobody here sees."""
    written = {name: with_macros_unknown(setting) for name, setting in given.items()}
    return dict(with_defaults({**_from_voters(given), **written}, unwritten(given)))


def unwritten(given: Mapping[str, Setting]) -> dict[str, str | None]:
    """The properties about listeners and roles that may be set where nobody here sees it, each as unknown."""
    unknown: dict[str, str | None] = dict.fromkeys(name for name in KRAFT_PROPERTIES if name not in given)
    if "zookeeper.connect" in given:
        unknown.pop("process.roles", None)
    return unknown


def with_macros_unknown(setting: Setting) -> Setting:
    """A setting whose text a start script may complete is unknown."""
    if setting.value is None or _MACRO.search(setting.value) is None:
        return setting
    return Setting(name=setting.name, value=None, variable=setting.variable, provenance=setting.provenance)


def _address(environment: Mapping[str, str | None]) -> tuple[str | None, str]:
    """The variable of the host to advertise, where there is one, and the port."""
    for host, port in _ADDRESSES:
        if environment.get(host):
            return host, environment.get(port) or "9092"
    return None, ""


def _advertised(environment: Mapping[str, str | None]) -> dict[str, Setting]:
    """The listener that a host and a port to advertise make."""
    variable, port = _address(environment)
    if variable is None:
        return {}
    value = f"PLAINTEXT://{environment[variable]}:{port}"
    name = "advertised.listeners"
    return {name: Setting(name=name, value=value, variable=variable, provenance=Provenance.DERIVED)}


def _from_voters(given: Mapping[str, Setting]) -> dict[str, Setting]:
    """What voters tell of the roles: Kafka refuses a voter that is no controller, and this node advertises as a broker.

    Its controller listener is the one with the voter's port.
    """
    voters = given.get("controller.quorum.voters")
    number = given.get("node.id") or given.get("broker.id")
    if voters is None or number is None:
        return {}
    own = [v for v in parse_voters(voters.value or "") if isinstance(v, Voter) and str(v.node_id) == number.value]
    listeners = well_formed(parse_listeners(given["listeners"].value or "")) if "listeners" in given else ()
    names = [e.endpoint.listener for e in listeners if own and e.endpoint.port == own[0].port]
    if len(names) != 1:
        return {}
    found = {"process.roles": "broker,controller", "controller.listener.names": names[0]}
    return {
        name: Setting(name=name, value=value, variable=voters.variable, provenance=Provenance.DERIVED)
        for name, value in found.items()
    }
