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


def _rename(old: str, new: str) -> Callable[[Stack], Iterable[Place]]:
    def make(stack: Stack) -> Iterable[Place]:
        environment = stack.services[B1].environment
        environment[new] = environment.pop(old)
        return [(B1, "environment", new)]

    return make


def _not_allowed(stack: Stack) -> Iterable[Place]:
    for name in stack.brokers:
        stack.services[name].image = "bitnamilegacy/kafka:3.4.0"
    del stack.services[B1].environment["ALLOW_PLAINTEXT_LISTENER"]
    return [(B1,)]


def _moved_image(stack: Stack) -> Iterable[Place]:
    moved = [name for name, service in stack.services.items() if service.image.startswith("bitnamilegacy/kafka")]
    for name in moved:
        stack.services[name].image = "bitnami/kafka:3.9.0"
    # One note for all brokers of an image.
    yield from ((name,) for name in moved[:1])


def _own_image(stack: Stack) -> Iterable[Place]:
    stack.services[B1].image = "registry.example/our-kafka:1.4"
    yield (B1,)


def _zookeeper_image(stack: Stack) -> Iterable[Place]:
    stack.services[B1].image = stack.services["zookeeper"].image
    yield (B1,)


def _tls_name(stack: Stack) -> Iterable[Place]:
    for name in ("listeners", ADVERTISED, "listener.security.protocol.map"):
        stack.swap(B1, name, "HOST:", "OUTSIDE_SSL:")
    return [(B1,)]


def _listener_prefix(stack: Stack) -> Iterable[Place]:
    for name in ("listeners", ADVERTISED, "listener.security.protocol.map"):
        stack.swap(B1, name, "HOST:", "HOST_IN:")
    variable = "KAFKA_LISTENER_NAME_HOST_IN_MAX_CONNECTIONS"
    stack.services[B1].environment[variable] = "9"
    return [(B1, "environment", variable)]


def _other_mechanism(stack: Stack) -> Iterable[Place]:
    return [stack.put(B1, "sasl.mechanism.inter.broker.protocol", "PLAIN")]


def _misspelt(stack: Stack) -> str:
    environment = stack.services[B1].environment
    variable = stack.variable("inter.broker.listener.name")
    environment[variable.replace("BROKER", "BROKERS")] = environment.pop(variable)
    return variable.replace("BROKER", "BROKERS")


def _without_listeners(stack: Stack) -> Place:
    stack.drop(B1, "listeners")
    return (B1, "environment", stack.variable(ADVERTISED))


def _without_cluster_id(stack: Stack) -> Iterable[Place]:
    del stack.services[B1].environment["KAFKA_KRAFT_CLUSTER_ID"]
    return [(B1,)]


def _is_single(family: str) -> Callable[[Stack], bool]:
    return lambda stack: stack.family == family and not stack.has_peers


def _doubled(stack: Stack) -> Iterable[Place]:
    stack.services[B1].doubled[stack.variable(ADVERTISED)] = "PLAINTEXT://kafka:9092"
    return [(B1, "environment", stack.variable(ADVERTISED))]


IMAGES: tuple[Defect, ...] = (
    defect(
        "image-env-alias-ignored",
        "controller-names",
        _rename("KAFKA_CFG_CONTROLLER_LISTENER_NAMES", "KAFKA_CONTROLLER_LISTENER_NAMES"),
        where=lambda s: s.name.startswith("bitnami-combined"),
    ),
    defect(
        "image-env-unknown",
        "letter",
        lambda s: [(B1, "environment", _misspelt(s))],
        where=_family("apache", "confluent", "bitnami", "wurstmeister"),
        also=("inter-broker-not-advertised",),
    ),
    defect(
        "bitnami-legacy-switches", "plaintext", _not_allowed, where=lambda s: s.name.startswith("bitnami-zookeeper")
    ),
    defect("cluster-id-inconsistent", "made-up", _without_cluster_id, where=lambda s: s.name == "bitnami-combined-3"),
    defect("image-gone", "moved", _moved_image, where=lambda s: s.name.startswith("bitnami-combined")),
    defect("broker-assumed", "own-image", _own_image, where=_family("apache", "confluent", "bitnami")),
    defect(
        "image-not-kafka",
        "zookeeper",
        _zookeeper_image,
        where=lambda s: s.name.startswith("confluent-zookeeper"),
        also=("dependent-bootstrap-wrong-port", "dependent-bootstrap-control-port"),
    ),
    defect("secrets-by-listener-name", "ssl", _tls_name, where=_is_single("confluent")),
    defect("listener-prefix-underscore", "host", _listener_prefix, where=_is_single("confluent")),
    defect("sasl-config-incomplete", "mechanism", _other_mechanism, where=lambda s: s.name == "confluent-secure-1"),
    defect(
        "wurstmeister-listeners-missing",
        "dropped",
        lambda s: [_without_listeners(s)],
        where=_family("wurstmeister"),
    ),
    defect("removed-address-property", "host-name", _old_address, where=_family("apache", "bitnami")),
    defect("image-env-rejected", "advertised-port", _rejected, where=_family("confluent")),
    defect("image-env-wrong-prefix", "retention", _wrong_prefix, where=_family("apache", "confluent")),
    defect("image-required-env-missing", "advertised", _missing_variable, where=_family("confluent")),
    defect("image-defaults-dropped", "one-variable", _defaults_dropped, where=lambda s: s.name == "apache-combined-1"),
    defect("image-version-breaks-mode", "cp-8", _old_image, where=lambda s: s.name.startswith("confluent-zookeeper")),
    defect("mounted-config-shadows-env", "own-file", _own_file, where=_family("apache", "confluent")),
    defect("image-env-duplicate", "advertised", _doubled),
)
