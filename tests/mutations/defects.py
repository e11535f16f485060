"""Every rule's defect as a change to a correct stack: where it applies, what it changes, where it is to be reported."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tests.mutations.stack import Place, Service, Stack

Make = Callable[[Stack], Iterable[Place]]

B1, B2, B3 = "kafka-1", "kafka-2", "kafka-3"
HOST_PORT = "19092:19092"


def _always(_: Stack) -> bool:
    return True


def _peers(stack: Stack) -> bool:
    return stack.has_peers


def _kraft(stack: Stack) -> bool:
    return stack.is_kraft


def _combined(stack: Stack) -> bool:
    return stack.is_kraft and not stack.is_isolated


def _isolated(stack: Stack) -> bool:
    return stack.is_isolated


def _zookeeper(stack: Stack) -> bool:
    return not stack.is_kraft


@dataclass(frozen=True, slots=True, kw_only=True)
class Defect:
    """One defect. `also` are the other rules that speak of a true consequence of it."""

    rule: str
    name: str
    make: Make
    where: Callable[[Stack], bool] = _always
    also: frozenset[str] = frozenset()


def defect(
    rule: str, name: str, make: Make, *, where: Callable[[Stack], bool] = _always, also: Iterable[str] = ()
) -> Defect:
    """A row of the table."""
    return Defect(rule=rule, name=name, make=make, where=where, also=frozenset(also))


def swap(name: str, old: str, new: str, service: str = B1) -> Make:
    """Replace a part of one property of one broker."""
    return lambda stack: [stack.swap(service, name, old, new)]


def put(name: str, value: str, service: str = B1) -> Make:
    """Set one property of one broker."""
    return lambda stack: [stack.put(service, name, value)]


def _family(*families: str) -> Callable[[Stack], bool]:
    return lambda stack: stack.family in families


def _both(*conditions: Callable[[Stack], bool]) -> Callable[[Stack], bool]:
    return lambda stack: all(condition(stack) for condition in conditions)


def _not(condition: Callable[[Stack], bool]) -> Callable[[Stack], bool]:
    return lambda stack: not condition(stack)


def _drop(name: str, place: Callable[[Stack], Place]) -> Make:
    def make(stack: Stack) -> Iterable[Place]:
        stack.drop(B1, name)
        return [place(stack)]

    return make


def _service(stack: Stack) -> Place:
    return (B1,)


def _at(name: str, service: str = B1) -> Callable[[Stack], Place]:
    return lambda stack: (service, "environment", stack.variable(name))


def _port(before: str, after: str | None, at: Callable[[Stack], Place] | None = None) -> Make:
    def make(stack: Stack) -> Iterable[Place]:
        place = stack.port(B1, before, after)
        return [at(stack) if at else place]

    return make


def _app(value: str) -> Make:
    def make(stack: Stack) -> Iterable[Place]:
        stack.services["app"].environment["KAFKA_BOOTSTRAP_SERVERS"] = value
        return [("app", "environment", "KAFKA_BOOTSTRAP_SERVERS")]

    return make


def _other_protocol(stack: Stack) -> Iterable[Place]:
    app = stack.services["app"].environment
    app["KAFKA_SECURITY_PROTOCOL"] = "SSL" if app.get("KAFKA_SECURITY_PROTOCOL") != "SSL" else "PLAINTEXT"
    yield ("app", "environment", "KAFKA_BOOTSTRAP_SERVERS")


def _named_endpoint(stack: Stack) -> Iterable[Place]:
    name = "SCHEMA_REGISTRY_KAFKASTORE_BOOTSTRAP_SERVERS"
    registry = Service(image="confluentinc/cp-schema-registry:7.9.2", environment={name: f"INTERNAL://{B1}:29092"})
    stack.services["registry"] = registry
    yield ("registry", "environment", name)


def _wrong_check(stack: Stack) -> Iterable[Place]:
    stack.services[B1].keys["healthcheck"] = "{test: kafka-topics.sh --list --bootstrap-server localhost:9092}"
    yield (B1, "healthcheck")


def _one_broker_elsewhere(stack: Stack) -> Iterable[Place]:
    for name, service in stack.services.items():
        if name != "app":
            service.networks = ["brokers"] if name == stack.brokers[-1] else ["kafka", "brokers"]
    stack.networks["brokers"] = ""
    yield ("app", "environment", "KAFKA_BOOTSTRAP_SERVERS")


LISTENERS = "listeners"
ADVERTISED = "advertised.listeners"
PROTOCOLS = "listener.security.protocol.map"
VOTERS = "controller.quorum.voters"
NAMES = "controller.listener.names"


def _two_names(stack: Stack) -> Iterable[Place]:
    yield stack.change(B1, LISTENERS, lambda value: value + ",INTERNAL://:29999")


def _alone_without_app(stack: Stack) -> None:
    del stack.services["app"]


def _loopback_everywhere(stack: Stack) -> Iterable[Place]:
    yield stack.swap(B1, ADVERTISED, f"//{B1}:", "//localhost:")


def _duplicate_host_port(stack: Stack) -> Iterable[Place]:
    stack.services["app"].ports.append(HOST_PORT)
    yield ("app", "ports", "0")


def _same_endpoint(stack: Stack) -> Iterable[Place]:
    yield stack.swap(B2, ADVERTISED, f"//{B2}:", f"//{B1}:")


def _same_id(stack: Stack) -> Iterable[Place]:
    name = "node.id" if stack.is_kraft else "broker.id"
    yield stack.put(B2, name, stack.get(B1, name))


def _own_networks(stack: Stack) -> Iterable[Place]:
    stack.services["app"].networks = ["apps"]
    stack.networks["apps"] = ""
    yield ("app", "environment", "KAFKA_BOOTSTRAP_SERVERS")


def _internal(stack: Stack) -> Iterable[Place]:
    stack.networks["kafka"] = "{internal: true}"
    for name in stack.brokers:
        yield (name, "ports", "0")


def _static_ip(stack: Stack) -> Iterable[Place]:
    stack.services["app"].networks = []
    stack.services["app"].keys["networks"] = "{kafka: {ipv4_address: 10.9.0.5}}"
    stack.networks["kafka"] = "{ipam: {config: [{subnet: 172.28.0.0/24}]}}"
    yield ("app", "networks")


def _unstable_ip(stack: Stack) -> Iterable[Place]:
    stack.networks["kafka"] = "{ipam: {config: [{subnet: 172.28.0.0/24}]}}"
    yield stack.swap(B1, ADVERTISED, f"//{B1}:", "//172.28.0.5:")


def _other_cluster(stack: Stack) -> Iterable[Place]:
    services = stack.services[B2].environment
    variable = next(name for name in services if name.endswith("CLUSTER_ID"))
    services[variable] = "AAAAAAAAAAAAAAAAAAAAAA"
    yield (B2, "environment", variable)


def _two_networks(stack: Stack) -> Iterable[Place]:
    stack.services[B1].networks.append("second")
    stack.networks["second"] = ""
    stack.services["other"] = Service(image="example/other:1.0", networks=["second"])
    yield stack.swap(B1, LISTENERS, "INTERNAL://:", f"INTERNAL://{B1}:")


def _default_bridge(stack: Stack) -> Iterable[Place]:
    stack.services["app"].keys["network_mode"] = "bridge"
    yield ("app", "environment", "KAFKA_BOOTSTRAP_SERVERS")


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


def _wildcard_controller(stack: Stack) -> Iterable[Place]:
    tag = {"apache": "apache/kafka:3.9.0", "confluent": "confluentinc/cp-kafka:7.9.0"}[stack.family]
    for name in (*stack.brokers, *stack.controllers):
        stack.services[name].image = tag
    yield stack.swap(stack.controllers[0], LISTENERS, "CONTROLLER://:", "CONTROLLER://0.0.0.0:")


def _host_alias(stack: Stack) -> Iterable[Place]:
    yield stack.swap(B1, ADVERTISED, "HOST://localhost", "HOST://host.docker.internal")


def _foreign_bind(stack: Stack) -> Iterable[Place]:
    yield stack.swap(B1, LISTENERS, "HOST://:", "HOST://192.168.8.133:")


def _two_targets(stack: Stack) -> Iterable[Place]:
    yield stack.port(B1, HOST_PORT, "19092:29092")


def _broker_only_binds_controller(stack: Stack) -> Iterable[Place]:
    yield stack.change(B1, LISTENERS, lambda value: value + ",CONTROLLER://:9093")


def _only_controllers_advertised(stack: Stack) -> Iterable[Place]:
    stack.put(B1, LISTENERS, "CONTROLLER://:9093")
    yield stack.put(B1, ADVERTISED, f"CONTROLLER://{B1}:9093")


def _first_controller(name: str, old: str, new: str) -> Make:
    return lambda stack: [stack.swap(stack.controllers[0], name, old, new)]


def _voters(change: Callable[[str], str]) -> Make:
    return lambda stack: [stack.change(stack.controllers[0], VOTERS, change)]


def _both_modes(stack: Stack) -> Iterable[Place]:
    yield stack.put(B1, "zookeeper.connect", "zookeeper:2181")


def _without_names(stack: Stack) -> Iterable[Place]:
    stack.drop(B1, NAMES)
    yield (B1, "environment", stack.variable(LISTENERS))


def _lower_case_names(stack: Stack) -> Iterable[Place]:
    stack.put(B1, NAMES, "controller")
    yield (B1, "environment", stack.variable(LISTENERS))


def _random_port(stack: Stack) -> Iterable[Place]:
    yield stack.port(B1, HOST_PORT, "19092")


def _loopback_bind(stack: Stack) -> Iterable[Place]:
    yield stack.swap(B1, LISTENERS, "INTERNAL://:", "INTERNAL://127.0.0.1:")


def _published_loopback(stack: Stack) -> Iterable[Place]:
    stack.swap(B1, ADVERTISED, "HOST://localhost", "HOST://192.168.8.133")
    yield stack.port(B1, HOST_PORT, "127.0.0.1:19092:19092")


def _lacks_listener(stack: Stack) -> Iterable[Place]:
    stack.change(B2, LISTENERS, lambda value: re.sub(r",HOST://:\d+", "", value))
    stack.services[B2].ports.clear()
    yield stack.change(B2, ADVERTISED, lambda value: re.sub(r",HOST://.*", "", value))


def _missing_variable(stack: Stack) -> Iterable[Place]:
    stack.drop(B1, ADVERTISED)
    yield (B1,)


def _defaults_dropped(stack: Stack) -> Iterable[Place]:
    stack.services[B1].environment.clear()
    stack.services[B1].environment["KAFKA_LOG_RETENTION_HOURS"] = "24"
    yield (B1, "environment", "KAFKA_LOG_RETENTION_HOURS")


def _unmapped(stack: Stack) -> Iterable[Place]:
    stack.change(B1, PROTOCOLS, lambda value: re.sub(r",HOST:\w+", "", value))
    yield (B1, "environment", stack.variable(LISTENERS))


def _extra(stack: Stack) -> Iterable[Place]:
    stack.change(B1, PROTOCOLS, lambda value: value + ",EXTRA:PLAINTEXT")
    yield stack.change(B1, ADVERTISED, lambda value: value + ",EXTRA://localhost:9993")


def _all_voters_to(old: str, new: str) -> Make:
    def make(stack: Stack) -> Iterable[Place]:
        nodes = tuple(dict.fromkeys((*stack.controllers, *stack.brokers)))
        return [stack.swap(name, VOTERS, old, new) for name in nodes][:1]

    return make


def _host_network(stack: Stack) -> Iterable[Place]:
    stack.services[B1].keys["network_mode"] = "host"
    yield (B1, "ports", "0")
    yield ("app", "environment", "KAFKA_BOOTSTRAP_SERVERS")


def _nobody_there(stack: Stack) -> Iterable[Place]:
    stack.services[B1].ports.append("9993:9993")
    yield (B1, "ports", "1")


def _typo_zookeeper(stack: Stack) -> Iterable[Place]:
    yield stack.put(B1, "zookeeper.connect", "zookeper:2181")


# What follows for clients when INTERNAL of the first broker leads nowhere.
MESH = ("inter-broker-endpoint-unreachable",)
DEFECTS: tuple[Defect, ...] = (
    defect("listener-unparsable", "name-and-port-alone", swap(LISTENERS, "INTERNAL://:29092", "INTERNAL://29092")),
    defect("listener-unparsable", "no-scheme", swap(ADVERTISED, f"INTERNAL://{B1}:29092", f"{B1}:29092")),
    defect("listener-unparsable", "one-slash", swap(ADVERTISED, "INTERNAL://", "INTERNAL:/")),
    defect("listener-unexpanded-or-quoted", "quotes", lambda s: [s.change(B1, ADVERTISED, lambda v: f'"{v}"')]),
    defect("listener-unexpanded-or-quoted", "dollars", swap(ADVERTISED, "HOST://localhost", "HOST://$${HOST_IP}")),
    defect("listener-name-duplicate", "in-listeners", _two_names),
    defect(
        "listener-port-conflict",
        "same-port",
        swap(LISTENERS, ":19092", ":29092"),
        also=("published-port-wrong-listener",),
    ),
    defect("listener-name-unmapped", "host", _unmapped),
    defect(
        "protocol-map-invalid",
        "unknown-protocol",
        lambda s: [s.change(B1, PROTOCOLS, lambda v: re.sub("HOST:[A-Z]+", "HOST:TLS", v))],
    ),
    defect(
        "protocol-map-invalid",
        "equals-sign",
        lambda s: [s.change(B1, PROTOCOLS, lambda v: v.replace("HOST:", "HOST="))],
    ),
    defect("inter-broker-both-settings", "both", put("security.inter.broker.protocol", "PLAINTEXT")),
    defect("inter-broker-not-advertised", "other-name", put("inter.broker.listener.name", "CLIENT")),
    defect("inter-broker-not-advertised", "unset", _drop("inter.broker.listener.name", _at(ADVERTISED))),
    defect("advertised-not-in-listeners", "extra", _extra),
    defect("advertised-wildcard", "host", swap(ADVERTISED, "HOST://localhost", "HOST://0.0.0.0")),
    defect("advertised-wildcard", "internal", swap(ADVERTISED, f"//{B1}:", "//0.0.0.0:")),
    defect("advertised-wildcard-uncaught", "ipv6", swap(ADVERTISED, "HOST://localhost", "HOST://[::]")),
    defect(
        "listener-port-invalid",
        "too-large",
        swap(ADVERTISED, "localhost:19092", "localhost:99999"),
        also=("advertised-port-differs-from-published",),
    ),
    defect("advertised-empty-host", "host", swap(ADVERTISED, "HOST://localhost", "HOST://")),
    defect("removed-address-property", "host-name", _old_address, where=_family("apache", "bitnami")),
    defect("image-env-rejected", "advertised-port", _rejected, where=_family("confluent")),
    defect("image-env-wrong-prefix", "retention", _wrong_prefix, where=_not(_family("wurstmeister"))),
    defect("image-required-env-missing", "advertised", _missing_variable, where=_family("confluent")),
    defect("image-defaults-dropped", "one-variable", _defaults_dropped, where=lambda s: s.name == "apache-combined-1"),
    defect("image-version-breaks-mode", "cp-8", _old_image, where=lambda s: s.name.startswith("confluent-zookeeper")),
    defect(
        "controller-wildcard-on-3.9.0",
        "wildcard",
        _wildcard_controller,
        where=_both(_kraft, lambda s: s.name.startswith(("apache", "confluent"))),
    ),
    defect(
        "kraft-role-invalid",
        "plural",
        lambda s: [s.change(B1, "process.roles", lambda v: v.replace("broker", "brokers"))],
        where=_kraft,
    ),
    defect("kraft-mode-ambiguous", "both", _both_modes, where=_kraft),
    defect("kraft-node-id-missing-or-mismatch", "mismatch", put("broker.id", "7"), where=_kraft),
    defect("kraft-node-id-missing-or-mismatch", "missing", _drop("node.id", _at("process.roles")), where=_kraft),
    defect(
        "kraft-voters-invalid",
        "no-id",
        _voters(lambda v: re.sub(r"1@[^,]*", f"{v.split('@')[1].split(':')[0]}:9093", v, count=1)),
        where=_kraft,
    ),
    defect(
        "kraft-voters-invalid",
        "not-a-member",
        _voters(lambda v: v.replace("1@", "9@")),
        where=_kraft,
        also=("kraft-voter-endpoint-mismatch",),
    ),
    defect("kraft-voter-endpoint-mismatch", "port", _all_voters_to(":9093", ":9999"), where=_kraft),
    defect(
        "kraft-voters-loopback",
        "localhost",
        lambda s: [
            s.change(n, VOTERS, lambda v: re.sub(r"@[^:]+:", "@localhost:", v))
            for n in dict.fromkeys((*s.controllers, *s.brokers))
        ],
        where=lambda s: len(s.controllers) > 1,
    ),
    defect("kraft-controller-listener-missing", "lower-case", _lower_case_names, where=_combined),
    defect("kraft-controller-listener-missing", "unset", _without_names, where=_combined),
    defect("kraft-controller-listener-wrong-role", "broker-binds-it", _broker_only_binds_controller, where=_isolated),
    defect("kraft-controller-unmapped", "map", swap(PROTOCOLS, ",CONTROLLER:PLAINTEXT", ""), where=_isolated),
    defect(
        "kraft-controller-advertised",
        "advertised",
        lambda s: [s.change(B1, ADVERTISED, lambda v: v + f",CONTROLLER://{B1}:9093")],
        where=_both(_combined, lambda s: s.services[B1].image.endswith((":3.7.0",))),
    ),
    defect(
        "kraft-no-broker-advertised",
        "controllers-only",
        _only_controllers_advertised,
        where=_combined,
        also=("dependent-bootstrap-wrong-port", "published-port-without-listener", "listener-sets-differ"),
    ),
    defect("duplicate-node-id", "two-of-three", _same_id, where=_peers, also=("kraft-voter-endpoint-mismatch",)),
    defect("cluster-id-inconsistent", "other", _other_cluster, where=_both(_kraft, _peers)),
    defect("advertised-loopback-for-remote-clients", "internal-too", _loopback_everywhere, also=MESH),
    defect("advertised-internal-name-for-host", "published", swap(ADVERTISED, "HOST://localhost", f"HOST://{B1}")),
    defect("advertised-port-not-published", "unpublished", _port(HOST_PORT, None, _at(ADVERTISED))),
    defect("advertised-port-differs-from-published", "other-port", _port(HOST_PORT, "9999:19092", _at(ADVERTISED))),
    defect("published-port-wrong-listener", "crossed", _two_targets, also=("advertised-internal-name-for-host",)),
    defect(
        "published-port-without-listener",
        "nobody-there",
        _nobody_there,
    ),
    defect("listener-bound-to-loopback", "internal", _loopback_bind),
    defect("listener-bound-to-foreign-address", "host-address", _foreign_bind),
    defect("listener-bound-to-one-network", "by-name", _two_networks),
    defect("published-loopback-advertised-elsewhere", "lan", _published_loopback),
    defect("duplicate-advertised-endpoint", "copied", _same_endpoint, where=_peers),
    defect("duplicate-host-port", "app-too", _duplicate_host_port),
    defect("advertised-host-unknown", "typo", swap(ADVERTISED, f"//{B1}:", "//kafka-one:"), where=_not(_peers)),
    defect("networks-not-shared", "app-elsewhere", _own_networks),
    defect("default-bridge-no-dns", "app-on-bridge", _default_bridge),
    defect("static-ip-invalid", "outside", _static_ip),
    defect("internal-network-published", "internal", _internal),
    defect("host-alias-portability", "host-docker-internal", _host_alias),
    defect("ephemeral-or-range-port", "any-port", _random_port),
    defect("unstable-ip-advertised", "own-subnet", _unstable_ip),
    defect("listener-sets-differ", "one-lacks-host", _lacks_listener, where=_peers),
    defect(
        "inter-broker-endpoint-unreachable", "wrong-port", swap(ADVERTISED, f"{B1}:29092", f"{B1}:29093"), where=_peers
    ),
    defect("dependent-bootstrap-localhost", "localhost", _app("localhost:19092")),
    defect("dependent-bootstrap-wrong-port", "nobody-there", _app(f"{B1}:9092")),
    defect(
        "dependent-bootstrap-external-listener",
        "host-listener",
        _app(f"{B1}:19092"),
        also=("client-protocol-mismatch",),
    ),
    defect("dependent-bootstrap-unknown-host", "typo", _app("kafka:29092")),
    defect(
        "dependent-bootstrap-control-port", "controller", lambda s: _app(f"{s.controllers[0]}:9093")(s), where=_kraft
    ),
    defect("client-protocol-mismatch", "declared", _other_protocol),
    defect("dependent-bootstrap-scheme", "listener-name", _app(f"INTERNAL://{B1}:29092")),
    defect("schema-registry-listener-name", "listener-name", _named_endpoint, also=("client-protocol-mismatch",)),
    defect("healthcheck-wrong-endpoint", "nobody-there", _wrong_check),
    defect("dependent-reaches-some-brokers", "other-network", _one_broker_elsewhere, where=_peers),
    defect("host-network-mode", "broker-on-host", _host_network, also=("kraft-voter-endpoint-mismatch", *MESH)),
    defect("zookeeper-connect-broken", "typo", _typo_zookeeper, where=_zookeeper),
)
