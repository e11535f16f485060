"""Defects by what they are about.

LISTENER_DEFECTS: listener lists, the protocol map, the inter-broker listener. REACH: networks, published ports,
advertised addresses. CLIENTS: clients, and what brokers themselves look for. KRAFT: what nodes of a quorum are told.
IMAGES: what images make of their variables.
"""

import posixpath
import re
from collections.abc import Callable, Iterable

from tests.mutations.defect import (
    ADVERTISED,
    B1,
    B2,
    LISTENERS,
    MESH,
    PROTOCOLS,
    Defect,
    Make,
    at,
    combined,
    defect,
    drop,
    kraft,
    peers,
    put,
    swap,
    unless,
)
from tests.mutations.stack import Place, Service, Stack


def _two_names(stack: Stack) -> Iterable[Place]:
    yield stack.change(B1, LISTENERS, lambda value: value + ",INTERNAL://:29999")


def _two_networks(stack: Stack) -> Iterable[Place]:
    stack.services[B1].networks.append("second")
    stack.networks["second"] = ""
    stack.services["other"] = Service(image="example/other:1.0", networks=["second"])
    yield stack.swap(B1, LISTENERS, "INTERNAL://:", f"INTERNAL://{B1}:")


def _foreign_bind(stack: Stack) -> Iterable[Place]:
    yield stack.swap(B1, LISTENERS, "HOST://:", "HOST://192.168.8.133:")


def _loopback_bind(stack: Stack) -> Iterable[Place]:
    yield stack.swap(B1, LISTENERS, "INTERNAL://:", "INTERNAL://127.0.0.1:")


def _lacks_listener(stack: Stack) -> Iterable[Place]:
    stack.change(B2, LISTENERS, lambda value: re.sub(r",HOST://:\d+", "", value))
    stack.services[B2].ports.clear()
    yield stack.change(B2, ADVERTISED, lambda value: re.sub(r",HOST://.*", "", value))


def _unmapped(stack: Stack) -> Iterable[Place]:
    stack.change(B1, PROTOCOLS, lambda value: re.sub(r",HOST:\w+", "", value))
    yield (B1, "environment", stack.variable(LISTENERS))


def _extra(stack: Stack) -> Iterable[Place]:
    stack.change(B1, PROTOCOLS, lambda value: value + ",EXTRA:PLAINTEXT")
    yield stack.change(B1, ADVERTISED, lambda value: value + ",EXTRA://localhost:9993")


def _dropped(stack: Stack) -> Iterable[Place]:
    return [stack.change(B1, PROTOCOLS, lambda value: re.sub(",?CONTROLLER:[A-Z_]+", "", value))]


LISTENER_DEFECTS: tuple[Defect, ...] = (
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
    defect("inter-broker-not-advertised", "unset", drop("inter.broker.listener.name", at(ADVERTISED))),
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
    defect("listener-bound-to-loopback", "internal", _loopback_bind),
    defect("listener-bound-to-foreign-address", "host-address", _foreign_bind),
    defect("listener-bound-to-one-network", "by-name", _two_networks),
    defect("listener-sets-differ", "one-lacks-host", _lacks_listener, where=peers),
    defect("listener-name-odd", "semicolon", swap(LISTENERS, ",HOST://", ";HOST://")),
    defect("listener-name-odd", "blank", swap(LISTENERS, "INTERNAL://", "INTERNAL ://")),
    defect("listener-name-odd", "second-scheme", swap(ADVERTISED, f"INTERNAL://{B1}", f"INTERNAL://http://{B1}")),
    defect("protocol-map-drops-defaults", "controller", _dropped, where=combined),
)


HOST_PORT = "19092:19092"


def _port(before: str, after: str | None, at: Callable[[Stack], Place] | None = None) -> Make:
    def make(stack: Stack) -> Iterable[Place]:
        place = stack.port(B1, before, after)
        return [at(stack) if at else place]

    return make


def _loopback_everywhere(stack: Stack) -> Iterable[Place]:
    yield stack.swap(B1, ADVERTISED, f"//{B1}:", "//localhost:")


def _duplicate_host_port(stack: Stack) -> Iterable[Place]:
    stack.services["app"].ports.append(HOST_PORT)
    yield ("app", "ports", "0")


def _same_endpoint(stack: Stack) -> Iterable[Place]:
    yield stack.swap(B2, ADVERTISED, f"//{B2}:", f"//{B1}:")


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


def _host_alias(stack: Stack) -> Iterable[Place]:
    yield stack.swap(B1, ADVERTISED, "HOST://localhost", "HOST://host.docker.internal")


def _two_targets(stack: Stack) -> Iterable[Place]:
    yield stack.port(B1, HOST_PORT, "19092:29092")


def _random_port(stack: Stack) -> Iterable[Place]:
    yield stack.port(B1, HOST_PORT, "19092")


def _published_loopback(stack: Stack) -> Iterable[Place]:
    stack.swap(B1, ADVERTISED, "HOST://localhost", "HOST://192.168.8.133")
    yield stack.port(B1, HOST_PORT, "127.0.0.1:19092:19092")


def _nobody_there(stack: Stack) -> Iterable[Place]:
    stack.services[B1].ports.append("9993:9993")
    yield (B1, "ports", "1")


def _data(stack: Stack) -> str:
    return "/bitnami/kafka/data" if stack.family == "bitnami" else "/var/lib/kafka/data"


def _folder_of_root(stack: Stack) -> Iterable[Place]:
    _keep_zookeeper(stack)
    stack.files["README.md"] = ""
    stack.services[B1].keys["volumes"] = f"[./data:{_data(stack)}]"
    return [(B1, "volumes")]


_ZOOKEEPER_DATA = {"confluent": "/var/lib/zookeeper/data", "bitnami": "/bitnami/zookeeper"}


def _one_volume(stack: Stack) -> Iterable[Place]:
    _keep_zookeeper(stack)
    for name in ("kafka-1", "kafka-2"):
        stack.services[name].keys["volumes"] = f"[./data:{_data(stack)}]"
    return [("kafka-2", "volumes")]


def _keep_zookeeper(stack: Stack) -> None:
    if "zookeeper" in stack.services:
        stack.services["zookeeper"].keys["volumes"] = f"[./zookeeper:{_ZOOKEEPER_DATA[stack.family]}]"


def _data_kept(stack: Stack) -> Iterable[Place]:
    stack.services[B1].keys["volumes"] = f"[./data:{_data(stack)}]"
    return [(B1, "volumes")]


def _mounted_above(stack: Stack) -> Iterable[Place]:
    stack.services[B1].keys["volumes"] = f"[./data:{posixpath.dirname(_data(stack))}]"
    return [(B1, "volumes")]


def _mounted_where_nothing_is_kept(stack: Stack) -> Iterable[Place]:
    stack.services[B1].keys["volumes"] = "[./data:/var/lib/kafka/data]"
    return [(B1, "volumes")]


def _stale(identity: str) -> Make:
    def make(stack: Stack) -> Iterable[Place]:
        _keep_zookeeper(stack)
        stack.services[B1].keys["volumes"] = f"[./data:{_data(stack)}]"
        stack.files["data/meta.properties"] = identity
        return [(B1, "volumes")]

    return make


def _keystore(**certificate: object) -> Make:
    """Mount a key store with this certificate in the place of one that nobody sees."""

    def make(stack: Stack) -> Iterable[Place]:
        stack.services[B1].keys["volumes"] = "[./secrets:/etc/kafka/secrets]"
        stack.certificates["secrets/kafka.p12"] = {"password": "example", **certificate}
        return [(B1, "environment", stack.variable("ssl.keystore.location"))]

    return make


def _uncovered(*names: str) -> Make:
    make = _keystore(names=names)

    def at_host(stack: Stack) -> Iterable[Place]:
        make(stack)
        return [(B1, "environment", stack.variable(ADVERTISED))]

    return at_host


def _untrusted(stack: Stack) -> Iterable[Place]:
    _keystore(names=_BOTH, by="One Authority")(stack)
    stack.certificates["secrets/trusted.pem"] = {"trusts": ["Another Authority"]}
    stack.put(B1, "ssl.truststore.type", "PEM")
    return [stack.put(B1, "ssl.truststore.location", "/etc/kafka/secrets/trusted.pem")]


def _of_app(make: Callable[[Stack], object] = lambda stack: None, **variables: str) -> Make:
    """Give the client these variables, beside its bootstrap list."""

    def with_variables(stack: Stack) -> Iterable[Place]:
        make(stack)
        stack.services["app"].environment |= variables
        return [("app", "environment", "KAFKA_BOOTSTRAP_SERVERS")]

    return with_variables


def _is_release_4(stack: Stack) -> bool:
    return stack.services[B1].image in ("apache/kafka:4.1.0", "confluentinc/cp-kafka:8.0.0")


def _keys_from_url(stack: Stack) -> Iterable[Place]:
    prefix = "listener.name.internal.oauthbearer.sasl"
    handler = "org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler"
    stack.put(B1, f"{prefix}.server.callback.handler.class", handler)
    return [stack.put(B1, f"{prefix}.oauthbearer.jwks.endpoint.url", "https://id.example/keys")]


def _module(name: str, options: str) -> str:
    return f"org.apache.kafka.common.security.{name}LoginModule required {options};"


def _logs_in_with_plain(stack: Stack) -> None:
    stack.put(B1, "sasl.enabled.mechanisms", "PLAIN")
    stack.put(B1, "sasl.mechanism.inter.broker.protocol", "PLAIN")
    stack.put(B1, "listener.name.internal.plain.sasl.jaas.config", _module("plain.Plain", 'user_app="secret"'))


def _without_jaas(stack: Stack) -> Iterable[Place]:
    del stack.services[B1].environment["KAFKA_OPTS"]
    return [(B1, "environment", stack.variable("sasl.enabled.mechanisms"))]


_BOTH = (B1, "localhost")
_AS_APP = 'username="application" password="secret"'


def _has_tls(stack: Stack) -> bool:
    return stack.name == "confluent-secure-1"


def _has_default_directory(stack: Stack) -> bool:
    return stack.family in ("confluent", "bitnami")


def _has_data(stack: Stack) -> bool:
    return stack.has_peers and _has_default_directory(stack)


def _replicas(stack: Stack) -> Iterable[Place]:
    stack.services[B1].keys["scale"] = "2"
    name = "node.id" if stack.has(B1, "node.id") else "broker.id"
    return [(B1, "environment", stack.variable(name))]


def _swarm_names(stack: Stack) -> Iterable[Place]:
    stack.services[B1].keys["deploy"] = "{endpoint_mode: dnsrr}"
    return [(B1, "deploy")]


def _no_network(stack: Stack) -> Iterable[Place]:
    stack.services[B1].keys["network_mode"] = "none"
    return [(B1, "ports", "0")]


def _hosts_entry(stack: Stack) -> Iterable[Place]:
    stack.services["app"].keys["extra_hosts"] = f'["{B1}:127.0.0.1"]'
    return [("app", "environment", "KAFKA_BOOTSTRAP_SERVERS")]


def _stands_alone(stack: Stack) -> bool:
    """One broker whose name nobody else uses before it is advertised."""
    return combined(stack) and not stack.has_peers


def _jmx(port: str, **variables: str) -> Make:
    """A published registry at port 9101; the place of the last variable, or of the port if its number differs."""

    def make(stack: Stack) -> Iterable[Place]:
        service = stack.services[B1]
        service.ports.append(port)
        service.environment.update(variables)
        moved = port != "9101:9101"
        yield (B1, "ports", str(len(service.ports) - 1)) if moved else (B1, "environment", list(variables)[-1])

    return make


def _takes_jmx_port(stack: Stack) -> bool:
    return stack.family in ("apache", "confluent")


_JMX_OPTIONS = "-Dcom.sun.management.jmxremote.port=9101 -Djava.rmi.server.hostname="


def _shared_network(stack: Stack) -> Iterable[Place]:
    stack.networks["kafka"] = "{external: true}"
    for name in stack.brokers:
        yield (name, "environment", stack.variable(ADVERTISED))


REACH: tuple[Defect, ...] = (
    defect("ambiguous-name", "shared-network", _shared_network, where=_stands_alone),
    defect("advertised-empty-host", "host", swap(ADVERTISED, "HOST://localhost", "HOST://")),
    defect("advertised-loopback-for-remote-clients", "internal-too", _loopback_everywhere, also=MESH),
    defect("advertised-internal-name-for-host", "published", swap(ADVERTISED, "HOST://localhost", f"HOST://{B1}")),
    defect("advertised-port-not-published", "unpublished", _port(HOST_PORT, None, at(ADVERTISED))),
    defect("advertised-port-differs-from-published", "other-port", _port(HOST_PORT, "9999:19092", at(ADVERTISED))),
    defect("published-port-wrong-listener", "crossed", _two_targets, also=("advertised-internal-name-for-host",)),
    defect(
        "published-port-without-listener",
        "nobody-there",
        _nobody_there,
    ),
    defect("published-loopback-advertised-elsewhere", "lan", _published_loopback),
    defect("duplicate-advertised-endpoint", "copied", _same_endpoint, where=peers),
    defect("duplicate-host-port", "app-too", _duplicate_host_port),
    defect("advertised-host-unknown", "typo", swap(ADVERTISED, f"//{B1}:", "//kafka-one:"), where=unless(peers)),
    defect("static-ip-invalid", "outside", _static_ip),
    defect("swarm-ingress-with-dnsrr", "no-virtual-address", _swarm_names),
    defect("internal-network-published", "internal", _internal),
    defect("host-alias-portability", "host-docker-internal", _host_alias),
    defect("ephemeral-or-range-port", "any-port", _random_port),
    defect("unstable-ip-advertised", "own-subnet", _unstable_ip),
    defect(
        "inter-broker-endpoint-unreachable", "wrong-port", swap(ADVERTISED, f"{B1}:29092", f"{B1}:29093"), where=peers
    ),
    defect("shared-data-volume", "one-folder", _one_volume, where=_has_data),
    defect(
        "stale-data-directory",
        "other-cluster",
        _stale("version=1\ncluster.id=0Qftv9yBTAmf2iDPSlIk7g\nnode.id=1"),
        where=lambda stack: _has_default_directory(stack) and stack.is_kraft,
    ),
    defect(
        "stale-data-directory",
        "formatted-for-kraft",
        _stale("version=1\ncluster.id=0Qftv9yBTAmf2iDPSlIk7g\nnode.id=1"),
        where=lambda stack: _has_default_directory(stack) and not stack.is_kraft,
    ),
    defect("stale-data-directory", "other-node", _stale("version=0\nbroker.id=9"), where=_has_default_directory),
    defect("keystore-name-not-covered", "host", _uncovered(B1), where=_has_tls),
    defect("keystore-name-not-covered", "containers", _uncovered("localhost"), where=_has_tls),
    defect("keystore-not-valid-now", "expired", _keystore(names=_BOTH, days=(-400, -35)), where=_has_tls),
    defect("keystore-not-valid-now", "soon", _keystore(names=_BOTH, days=(-400, 20)), where=_has_tls),
    defect("keystore-unusable", "password", _keystore(names=_BOTH, password="another"), where=_has_tls),
    defect("keystore-untrusted", "authority", _untrusted, where=_has_tls),
    defect("keystore-not-checked", "rounds", _keystore(names=_BOTH, rounds=1_100_000), where=_has_tls),
    defect(
        "client-certificate-missing",
        "required",
        _of_app(
            put("listener.name.internal.ssl.client.auth", "required"), KAFKA_SSL_TRUSTSTORE_LOCATION="/trusted.jks"
        ),
        where=_has_tls,
    ),
    defect("host-names-unchecked", "client", _of_app(KAFKA_SSL_ENDPOINT_IDENTIFICATION_ALGORITHM=""), where=_has_tls),
    defect("oauthbearer-url-not-allowed", "keys", _keys_from_url, where=_is_release_4),
    defect("sasl-jaas-missing", "no-file", _without_jaas, where=_has_tls),
    defect(
        "sasl-mechanism-not-enabled",
        "plain",
        _of_app(KAFKA_SASL_MECHANISM="PLAIN", KAFKA_SASL_JAAS_CONFIG=_module("plain.Plain", _AS_APP)),
        where=_has_tls,
    ),
    defect(
        "sasl-user-unknown",
        "plain",
        _of_app(
            _logs_in_with_plain, KAFKA_SASL_MECHANISM="PLAIN", KAFKA_SASL_JAAS_CONFIG=_module("plain.Plain", _AS_APP)
        ),
        where=_has_tls,
    ),
    defect(
        "sasl-scram-user-missing",
        "scram",
        _of_app(KAFKA_SASL_JAAS_CONFIG=_module("scram.Scram", _AS_APP)),
        where=_has_tls,
    ),
    defect("data-directory-not-writable", "not-there", _folder_of_root, where=_has_default_directory),
    defect("data-not-kept", "above", _mounted_above, where=lambda stack: stack.family == "confluent"),
    defect("data-not-kept", "log-dirs", _mounted_where_nothing_is_kept, where=lambda stack: stack.family == "apache"),
    defect("replicas-share-endpoint", "scale", _replicas),
    defect(
        "network-mode-none-or-shared",
        "none",
        _no_network,
        where=lambda stack: not stack.has_peers,
        also=("kraft-voter-endpoint-mismatch",),
    ),
    defect("advertised-placeholder", "your-host", swap(ADVERTISED, f"//{B1}:", "//YOUR_HOST:")),
    defect("hostname-loopback", "hosts-file", _hosts_entry),
    defect("jmx-rmi-port-random", "in-options", _jmx("9101:9101", KAFKA_JMX_OPTS=f"{_JMX_OPTIONS}localhost")),
    defect(
        "jmx-rmi-port-not-published",
        "other-number",
        _jmx("19101:9101", KAFKA_JMX_HOSTNAME="localhost", KAFKA_JMX_PORT="9101"),
        where=_takes_jmx_port,
    ),
    defect(
        "jmx-hostname-unreachable",
        "container-name",
        _jmx("9101:9101", KAFKA_JMX_PORT="9101", KAFKA_JMX_HOSTNAME=B1),
        where=_takes_jmx_port,
    ),
)


def _zookeeper(stack: Stack) -> bool:
    return not stack.is_kraft


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


def _own_networks(stack: Stack) -> Iterable[Place]:
    stack.services["app"].networks = ["apps"]
    stack.networks["apps"] = ""
    yield ("app", "environment", "KAFKA_BOOTSTRAP_SERVERS")


def _default_bridge(stack: Stack) -> Iterable[Place]:
    stack.services["app"].keys["network_mode"] = "bridge"
    yield ("app", "environment", "KAFKA_BOOTSTRAP_SERVERS")


def _host_network(stack: Stack) -> Iterable[Place]:
    stack.services[B1].keys["network_mode"] = "host"
    yield (B1, "ports", "0")
    yield ("app", "environment", "KAFKA_BOOTSTRAP_SERVERS")


def _typo_zookeeper(stack: Stack) -> Iterable[Place]:
    yield stack.put(B1, "zookeeper.connect", "zookeper:2181")


def _relay(stack: Stack) -> Iterable[Place]:
    command = f"TCP-LISTEN:9092,fork TCP:{B1}:29092"
    stack.services["relay"] = Service(image="alpine/socat:1.8.0.3", ports=["19292:9092"], keys={"command": command})
    yield ("relay", "command")


def _workers(place: str, **second: str) -> Make:
    """Two Connect workers, the second with variables of its own; `place` is the one that is wrong."""

    def make(stack: Stack) -> Iterable[Place]:
        for name, own in (("connect-1", {}), ("connect-2", second)):
            environment = {
                "CONNECT_BOOTSTRAP_SERVERS": f"{B1}:29092",
                "CONNECT_GROUP_ID": "connect",
                "CONNECT_CONFIG_STORAGE_TOPIC": "connect-configs",
                "CONNECT_OFFSET_STORAGE_TOPIC": "connect-offsets",
                "CONNECT_STATUS_STORAGE_TOPIC": "connect-status",
                "CONNECT_REST_ADVERTISED_HOST_NAME": name,
            }
            changed = {**environment, **own}
            stack.services[name] = Service(image="confluentinc/cp-kafka-connect:7.9.2", environment=changed)
        yield ("connect-2", "environment", place)

    return make


def _replicas_of_a_worker(stack: Stack) -> Iterable[Place]:
    yield from _workers(_HOST_NAME)(stack)
    stack.services["connect-2"].keys["scale"] = "2"


def _registry_url(stack: Stack) -> Iterable[Place]:
    name = "SCHEMA_REGISTRY_HOST_NAME"
    image = "confluentinc/cp-schema-registry:7.9.2"
    stack.services["registry"] = Service(image=image, ports=["8085:8081"], environment={name: "registry"})
    stack.services["app"].environment["SCHEMA_REGISTRY_URL"] = "http://registry:8085"
    yield ("app", "environment", "SCHEMA_REGISTRY_URL")


def _plain(stack: Stack) -> bool:
    return "secure" not in stack.name


_HOST_NAME, _CONFIGS = "CONNECT_REST_ADVERTISED_HOST_NAME", "CONNECT_CONFIG_STORAGE_TOPIC"


CLIENTS: tuple[Defect, ...] = (
    defect(
        "rest-advertised-unreachable", "no-such-name", _workers(_HOST_NAME, **{_HOST_NAME: "worker-2"}), where=_plain
    ),
    defect("rest-advertised-loopback", "localhost", _workers(_HOST_NAME, **{_HOST_NAME: "localhost"}), where=_plain),
    defect("rest-advertised-shared", "replicas", _replicas_of_a_worker, where=_plain),
    defect("rest-url-unreachable", "published-port", _registry_url),
    defect("connect-group-shared", "other-topic", _workers(_CONFIGS, **{_CONFIGS: "others"}), where=_plain),
    defect("connect-topics-shared", "other-group", _workers(_CONFIGS, CONNECT_GROUP_ID="others"), where=_plain),
    defect("relay-to-wrong-listener", "internal-listener", _relay, where=lambda s: "secure" not in s.name),
    defect("networks-not-shared", "app-elsewhere", _own_networks),
    defect("default-bridge-no-dns", "app-on-bridge", _default_bridge),
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
        "dependent-bootstrap-control-port", "controller", lambda s: _app(f"{s.controllers[0]}:9093")(s), where=kraft
    ),
    defect("client-protocol-mismatch", "declared", _other_protocol),
    defect("dependent-bootstrap-scheme", "listener-name", _app(f"INTERNAL://{B1}:29092")),
    defect("schema-registry-listener-name", "listener-name", _named_endpoint, also=("client-protocol-mismatch",)),
    defect("healthcheck-wrong-endpoint", "nobody-there", _wrong_check),
    defect("dependent-reaches-some-brokers", "other-network", _one_broker_elsewhere, where=peers),
    defect("host-network-mode", "broker-on-host", _host_network, also=("kraft-voter-endpoint-mismatch", *MESH)),
    defect("zookeeper-connect-broken", "typo", _typo_zookeeper, where=_zookeeper),
    defect(
        "zookeeper-data-not-kept",
        "volume-of-the-broker",
        _data_kept,
        where=lambda stack: _has_default_directory(stack) and _zookeeper(stack),
    ),
)


def _isolated(stack: Stack) -> bool:
    return stack.is_isolated


def _both(*conditions: Callable[[Stack], bool]) -> Callable[[Stack], bool]:
    return lambda stack: all(condition(stack) for condition in conditions)


VOTERS = "controller.quorum.voters"


NAMES = "controller.listener.names"


def _same_id(stack: Stack) -> Iterable[Place]:
    name = "node.id" if stack.is_kraft else "broker.id"
    yield stack.put(B2, name, stack.get(B1, name))


def _other_cluster(stack: Stack) -> Iterable[Place]:
    services = stack.services[B2].environment
    variable = next(name for name in services if name.endswith("CLUSTER_ID"))
    services[variable] = "AAAAAAAAAAAAAAAAAAAAAA"
    yield (B2, "environment", variable)


def _wildcard_controller(stack: Stack) -> Iterable[Place]:
    tag = {"apache": "apache/kafka:3.9.0", "confluent": "confluentinc/cp-kafka:7.9.0"}[stack.family]
    for name in (*stack.brokers, *stack.controllers):
        stack.services[name].image = tag
    yield stack.swap(stack.controllers[0], LISTENERS, "CONTROLLER://:", "CONTROLLER://0.0.0.0:")


def _broker_only_binds_controller(stack: Stack) -> Iterable[Place]:
    yield stack.change(B1, LISTENERS, lambda value: value + ",CONTROLLER://:9093")


def _only_controllers_advertised(stack: Stack) -> Iterable[Place]:
    stack.put(B1, LISTENERS, "CONTROLLER://:9093")
    yield stack.put(B1, ADVERTISED, f"CONTROLLER://{B1}:9093")


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


def _all_voters_to(old: str, new: str) -> Make:
    def make(stack: Stack) -> Iterable[Place]:
        nodes = tuple(dict.fromkeys((*stack.controllers, *stack.brokers)))
        return [stack.swap(name, VOTERS, old, new) for name in nodes][:1]

    return make


def _release(stack: Stack) -> str:
    return stack.services[B1].image.partition(":")[2]


def _kraft_3(stack: Stack) -> bool:
    return combined(stack) and _release(stack).startswith(("3.", "7."))


def _takes_advertised_controllers(stack: Stack) -> bool:
    return combined(stack) and stack.has_peers and not _release(stack).startswith(("3.8", "3.7", "7.8", "7.7"))


def _alone(stack: Stack) -> Iterable[Place]:
    return [stack.change(B1, VOTERS, lambda value: value.split(",")[0])]


def _bootstrap(stack: Stack) -> Iterable[Place]:
    stack.drop(B1, VOTERS)
    return [stack.put(B1, "controller.quorum.bootstrap.servers", f"{B1}:9093")]


def _advertised_controller(stack: Stack) -> Iterable[Place]:
    return [stack.change(B1, ADVERTISED, lambda value: f"{value},CONTROLLER://localhost:9093")]


def _refused_controller(stack: Stack) -> Iterable[Place]:
    """In the last release that refuses it."""
    for service in stack.services.values():
        if service.image.startswith("apache/kafka"):
            service.image = "apache/kafka:3.8.1"
    return [stack.change(B1, ADVERTISED, lambda value: f"{value},CONTROLLER://{B1}:9093")]


KRAFT: tuple[Defect, ...] = (
    defect(
        "controller-wildcard-on-3.9.0",
        "wildcard",
        _wildcard_controller,
        where=_both(kraft, lambda s: s.name.startswith(("apache", "confluent"))),
    ),
    defect(
        "kraft-role-invalid",
        "plural",
        lambda s: [s.change(B1, "process.roles", lambda v: v.replace("broker", "brokers"))],
        where=kraft,
    ),
    defect("kraft-mode-ambiguous", "both", _both_modes, where=kraft),
    defect("kraft-node-id-missing-or-mismatch", "mismatch", put("broker.id", "7"), where=kraft),
    defect("kraft-node-id-missing-or-mismatch", "missing", drop("node.id", at("process.roles")), where=kraft),
    defect(
        "kraft-voters-invalid",
        "no-id",
        _voters(lambda v: re.sub(r"1@[^,]*", f"{v.split('@')[1].split(':')[0]}:9093", v, count=1)),
        where=kraft,
    ),
    defect(
        "kraft-voters-invalid",
        "not-a-member",
        _voters(lambda v: v.replace("1@", "9@")),
        where=kraft,
        also=("kraft-voter-endpoint-mismatch",),
    ),
    defect("kraft-voter-endpoint-mismatch", "port", _all_voters_to(":9093", ":9999"), where=kraft),
    defect(
        "kraft-voters-loopback",
        "localhost",
        lambda s: [
            s.change(n, VOTERS, lambda v: re.sub(r"@[^:]+:", "@localhost:", v))
            for n in dict.fromkeys((*s.controllers, *s.brokers))
        ],
        where=lambda s: len(s.controllers) > 1,
    ),
    defect("kraft-controller-listener-missing", "lower-case", _lower_case_names, where=combined),
    defect("kraft-controller-listener-missing", "unset", _without_names, where=combined),
    defect("kraft-controller-listener-wrong-role", "broker-binds-it", _broker_only_binds_controller, where=_isolated),
    defect("kraft-controller-unmapped", "map", swap(PROTOCOLS, ",CONTROLLER:PLAINTEXT", ""), where=_isolated),
    defect(
        "kraft-controller-advertised",
        "advertised",
        _refused_controller,
        where=_both(combined, lambda s: s.family == "apache"),
    ),
    defect(
        "kraft-no-broker-advertised",
        "controllers-only",
        _only_controllers_advertised,
        where=combined,
        also=("dependent-bootstrap-wrong-port", "published-port-without-listener", "listener-sets-differ"),
    ),
    defect("duplicate-node-id", "two-of-three", _same_id, where=peers, also=("kraft-voter-endpoint-mismatch",)),
    defect("cluster-id-inconsistent", "other", _other_cluster, where=_both(kraft, peers)),
    defect("control-plane-misuse", "kraft", put("control.plane.listener.name", "CONTROLLER"), where=_kraft_3),
    defect(
        "control-plane-misuse",
        "zookeeper",
        put("control.plane.listener.name", "INTERNAL"),
        where=lambda stack: not stack.is_kraft,
    ),
    defect("kraft-voters-inconsistent", "alone", _alone, where=lambda stack: combined(stack) and stack.has_peers),
    defect("kraft-inter-broker-is-controller", "same", put("inter.broker.listener.name", "CONTROLLER"), where=combined),
    defect(
        "kraft-dynamic-quorum-unformattable",
        "bootstrap",
        _bootstrap,
        where=lambda stack: combined(stack) and stack.family in ("apache", "confluent"),
    ),
    defect(
        "kraft-advertised-controller-differs",
        "localhost",
        _advertised_controller,
        where=_takes_advertised_controllers,
    ),
)


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


DEFECTS = (*LISTENER_DEFECTS, *KRAFT, *IMAGES, *REACH, *CLIENTS)
