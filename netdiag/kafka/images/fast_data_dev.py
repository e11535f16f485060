"""lensesio/fast-data-dev (once landoop's) and lensesio/box: a broker with its own ZooKeeper, registry and UI in one.

Box was called landoop/kafka-lenses-dev.

Source: `setup-and-run.sh` and `config_kafka.sh` of lensesio/fast-data-dev, branches fdd/1.0.1 to fdd/main and box/3.0
to box/main. Variables that are set to nothing are dropped before Kafka starts.
"""

import re

from netdiag.kafka.images.reference import Environment, Family, ImageFamily, version_of
from netdiag.kafka.images.settings import ImageSettings, Provenance, Setting, property_name, with_defaults
from netdiag.patterns import regex

_SKIPPED = regex(
    r"KAFKA_(?:REST|CONNECT)_.*|.*KAFKA_PORT.*|.*TCP_(?:PORT|ADDR).*|.*_[0-9]{1,5}_(?:TCP|UDP).*"
    r"|.*_SERVICE_(?:PORT|HOST).*|KAFKA_(?:OPTS|HEAP_OPTS|JMX_OPTS|LOG4J_OPTS|PERFORMANCE_OPTS)"
)
# ZooKeeper, the pages (plain and TLS), schema registry, REST proxy, Connect, and the JMX port of each.
USUAL_PORTS = frozenset({2181, 3030, 3031, 8081, 8082, 8083, *range(9581, 9586)})
_TRUE = regex(r"true|y|yes|1", re.IGNORECASE)


def settings(environment: Environment) -> ImageSettings:
    """The properties the image starts Kafka with."""
    given: dict[str, Setting] = {}
    for variable in sorted(environment):
        if variable.startswith("KAFKA_") and not _SKIPPED.fullmatch(variable) and environment[variable] != "":
            name = property_name(variable, "KAFKA_")
            given[name] = Setting(name=name, value=environment[variable], variable=variable)
    port = _port(environment, "BROKER_PORT", "9092")
    zookeeper = _port(environment, "ZK_PORT", "2181")
    defaults = {
        "broker.id": "0",
        "listeners": None if port is None else f"PLAINTEXT://:{port}",
        "zookeeper.connect": None if zookeeper is None else f"127.0.0.1:{zookeeper}",
    }
    made = with_defaults(given, defaults)
    host = environment.get("ADV_HOST", "")
    from_host = host != "" and "advertised.listeners" not in given
    if from_host:
        made["advertised.listeners"] = Setting(
            name="advertised.listeners",
            value=None if host is None or port is None else f"PLAINTEXT://{host}:{port}",
            variable="ADV_HOST",
            provenance=Provenance.DERIVED,
        )
    if _TRUE.fullmatch(environment.get("ENABLE_SSL") or ""):
        _add_tls(made, _port(environment, "BROKER_SSL_PORT", "9093"), host if from_host else None)
    return ImageSettings(settings=made)


def _runs_broker(environment: Environment) -> bool:
    """Whether the broker among the services of the image is switched on."""
    return environment.get("BROKER_PORT") != "0" and not _TRUE.fullmatch(environment.get("WEB_ONLY") or "")


def _port(environment: Environment, variable: str, default: str) -> str | None:
    value = environment.get(variable, default)
    return default if value == "" else value


def _add_tls(made: dict[str, Setting], port: str | None, host: str | None) -> None:
    """Append the SSL listener, to the advertised ones only where they come from ADV_HOST."""
    extended = {"listeners": f"SSL://:{port}"} | ({"advertised.listeners": f"SSL://{host}:{port}"} if host else {})
    for name, entry in extended.items():
        setting = made[name]
        value = None if setting.value is None or port is None else f"{setting.value},{entry}"
        made[name] = Setting(name=name, value=value, variable=setting.variable, provenance=Provenance.DERIVED)


_REPOSITORIES = ("lensesio/fast-data-dev", "landoop/fast-data-dev", "lensesio/box", "landoop/kafka-lenses-dev")
FAMILY = Family(
    id=ImageFamily.FAST_DATA_DEV,
    repositories=_REPOSITORIES,
    settings=lambda environment, image, launch: settings(environment),
    version=lambda repository, tag: version_of(tag) if repository.endswith("fast-data-dev") else None,
    start_scripts=("setup-and-run",),
    runs_broker=lambda environment, command: _runs_broker(environment),
    frozen=_REPOSITORIES,
)
