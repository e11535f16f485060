"""Clients, and what brokers themselves look for."""

from collections.abc import Iterable

from tests.mutations.defect import B1, MESH, Defect, Make, defect, kraft, peers
from tests.mutations.stack import Place, Service, Stack


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


CLIENTS: tuple[Defect, ...] = (
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
)
