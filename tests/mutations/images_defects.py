"""What images make of their variables."""

from collections.abc import Callable, Iterable

from tests.mutations.defect import ADVERTISED, B1, Defect, defect
from tests.mutations.stack import Place, Stack


def _family(*families: str) -> Callable[[Stack], bool]:
    return lambda stack: stack.family in families


def _wrong_prefix(stack: Stack) -> Iterable[Place]:
    environment = stack.services[B1].environment
    variable = stack.variable("log.retention.hours")
    wrong = variable.replace("KAFKA_CFG_", "KAFKA_") if "CFG" in variable else variable.replace("KAFKA_", "KAFKA_CFG_")
    environment[wrong] = "24"
    yield (B1, "environment", wrong)


def _rejected(stack: Stack) -> Iterable[Place]:
    stack.services[B1].environment["KAFKA_ADVERTISED_PORT"] = "9092"
    yield (B1, "environment", "KAFKA_ADVERTISED_PORT")


def _old_address(stack: Stack) -> Iterable[Place]:
    variable = stack.variable("advertised.host.name")
    stack.services[B1].environment[variable] = "localhost"
    yield (B1, "environment", variable)


def _old_image(stack: Stack) -> Iterable[Place]:
    for name in stack.brokers:
        stack.services[name].image = "confluentinc/cp-kafka:8.0.0"
        yield (name, "environment", "KAFKA_ZOOKEEPER_CONNECT")


def _missing_variable(stack: Stack) -> Iterable[Place]:
    stack.drop(B1, ADVERTISED)
    yield (B1,)


def _defaults_dropped(stack: Stack) -> Iterable[Place]:
    stack.services[B1].environment.clear()
    stack.services[B1].environment["KAFKA_LOG_RETENTION_HOURS"] = "24"
    yield (B1, "environment", "KAFKA_LOG_RETENTION_HOURS")


def _own_file(stack: Stack) -> Iterable[Place]:
    stack.services[B1].keys["command"] = "kafka-server-start /etc/kafka/own/server.properties"
    stack.services[B1].keys["volumes"] = '["./config:/etc/kafka/own"]'
    first = next(name for name in stack.services[B1].environment if name.startswith("KAFKA_"))
    return [(B1, "environment", first)]


IMAGES: tuple[Defect, ...] = (
    defect("removed-address-property", "host-name", _old_address, where=_family("apache", "bitnami")),
    defect("image-env-rejected", "advertised-port", _rejected, where=_family("confluent")),
    defect("image-env-wrong-prefix", "retention", _wrong_prefix, where=_family("apache", "confluent")),
    defect("image-required-env-missing", "advertised", _missing_variable, where=_family("confluent")),
    defect("image-defaults-dropped", "one-variable", _defaults_dropped, where=lambda s: s.name == "apache-combined-1"),
    defect("image-version-breaks-mode", "cp-8", _old_image, where=lambda s: s.name.startswith("confluent-zookeeper")),
    defect("mounted-config-shadows-env", "own-file", _own_file, where=_family("apache", "confluent")),
)
