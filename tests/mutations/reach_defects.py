"""Who can reach a broker: networks, published ports, advertised addresses."""

from collections.abc import Callable, Iterable

from tests.mutations.defect import ADVERTISED, B1, B2, MESH, Defect, Make, at, combined, defect, peers, swap, unless
from tests.mutations.stack import Place, Stack

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


def _one_volume(stack: Stack) -> Iterable[Place]:
    for name in ("kafka-1", "kafka-2"):
        stack.services[name].keys["volumes"] = f"[./data:{_data(stack)}]"
    return [("kafka-2", "volumes")]


def _stale(identity: str) -> Make:
    def make(stack: Stack) -> Iterable[Place]:
        stack.services[B1].keys["volumes"] = f"[./data:{_data(stack)}]"
        stack.files["data/meta.properties"] = identity
        return [(B1, "volumes")]

    return make


def _has_default_directory(stack: Stack) -> bool:
    return stack.family in ("confluent", "bitnami")


def _has_data(stack: Stack) -> bool:
    return stack.has_peers and _has_default_directory(stack)


def _replicas(stack: Stack) -> Iterable[Place]:
    stack.services[B1].keys["scale"] = "2"
    name = "node.id" if stack.has(B1, "node.id") else "broker.id"
    return [(B1, "environment", stack.variable(name))]


def _no_network(stack: Stack) -> Iterable[Place]:
    stack.services[B1].keys["network_mode"] = "none"
    return [(B1, "ports", "0")]


def _hosts_entry(stack: Stack) -> Iterable[Place]:
    stack.services["app"].keys["extra_hosts"] = f'["{B1}:127.0.0.1"]'
    return [("app", "environment", "KAFKA_BOOTSTRAP_SERVERS")]


def _stands_alone(stack: Stack) -> bool:
    """One broker whose name nobody else uses before it is advertised."""
    return combined(stack) and not stack.has_peers


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
    defect("stale-data-directory", "other-node", _stale("version=0\nbroker.id=9"), where=_has_default_directory),
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
)
