"""What a listener binds, and which socket of a container accepts."""

from dataclasses import replace

import pytest

from netdiag.deployment.model.deployment import Deployment, State
from netdiag.deployment.model.verdict import Failed, Unknown
from netdiag.deployment.prediction.client_namespace import Family
from netdiag.deployment.prediction.sockets import (
    Accepted,
    Reach,
    Relayed,
    SocketResult,
    accept_at_address,
    accept_at_loopback,
    accept_in_host_mode,
    binding,
)
from tests.deployment.stacks import deployment_of, five_brokers
from tests.deployment.worlds import LAN_ADDRESS, broker, world


def reach(text: str, *, host_addresses: tuple[str, ...] = ()) -> tuple[Reach, str | None]:
    deployment = deployment_of(text, host_addresses=host_addresses)
    broker = deployment.brokers[0]
    bound = binding(deployment, broker, broker.config.listeners[0])
    return bound.reach, bound.network


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("0.0.0.0", (Reach.EVERYWHERE, None)),
        ("", (Reach.EVERYWHERE, None)),
        ("localhost", (Reach.LOOPBACK, None)),
        ("127.0.0.1", (Reach.LOOPBACK, None)),
        ("broker-1", (Reach.ONE_NETWORK, "kafka")),
        ("five-broker-1-1", (Reach.ONE_NETWORK, "kafka")),
        ("broker-2", (Reach.FOREIGN, None)),
        ("nobody", (Reach.FOREIGN, None)),
        ("192.168.8.133", (Reach.FOREIGN, None)),
    ],
)
def test_host(host: str, expected: tuple[Reach, str | None]) -> None:
    assert reach(five_brokers(bind=host)) == expected


def test_a_declared_host_address_is_foreign_in_a_container() -> None:
    text = five_brokers(bind="192.168.8.133")
    assert reach(text, host_addresses=("192.168.8.133",)) == (Reach.FOREIGN, None)


def test_a_name_on_two_networks_is_the_first_by_name() -> None:
    text = five_brokers(bind="broker-{n}").replace(
        "    networks: [kafka]\n    ports", "    networks: [kafka, back]\n    ports"
    )
    assert reach(text + "  back:\n") == (Reach.ONE_NETWORK, "back")


def test_an_explicit_hostname_on_two_networks_is_not_decided_here() -> None:
    text = five_brokers(bind="broker-{n}").replace(
        "    networks: [kafka]\n    ports", "    hostname: broker-1\n    networks: [kafka, back]\n    ports"
    )
    assert reach(text + "  back:\n")[0] is Reach.UNKNOWN


def test_of_an_alias_that_others_have_each_binds_its_own_address() -> None:
    service = "{image: 'apache/kafka:4.3.1', networks: {default: {aliases: [kafka]}}, environment: %s}"
    settings = "{KAFKA_LISTENERS: 'PLAINTEXT://kafka:9092', KAFKA_PROCESS_ROLES: broker}"
    names = ("one", "two", "three")
    deployment = deployment_of("services:\n" + "".join(f"  {name}: {service % settings}\n" for name in names))
    found = [binding(deployment, one, one.config.listeners[0]) for one in deployment.brokers]
    assert [(one.reach, one.network) for one in found] == [(Reach.ONE_NETWORK, "default")] * 3


def test_an_external_network_may_give_any_address() -> None:
    text = five_brokers(bind="10.9.9.9").replace("networks:\n  kafka:\n", "networks:\n  kafka: {external: true}\n")
    assert reach(text)[0] is Reach.UNKNOWN


def test_a_static_address_is_the_container_s_own() -> None:
    text = five_brokers(bind="10.5.0.3").replace(
        '    networks: [kafka]\n    ports: ["9091', '    networks: {kafka: {ipv4_address: 10.5.0.3}}\n    ports: ["9091'
    )
    assert reach(text) == (Reach.ONE_NETWORK, "kafka")


def test_host_mode_binds_the_host() -> None:
    text = five_brokers(bind="192.168.8.133").replace(
        "    networks: [kafka]\n    ports", "    network_mode: host\n    ports"
    )
    assert reach(text, host_addresses=("192.168.8.133",)) == (Reach.ONE_NETWORK, None)
    assert reach(text)[0] is Reach.UNKNOWN


SERVICES = (
    broker("k", "networks: [a, b]", "ALL://0.0.0.0:9092", "LO://127.0.0.1:9093", "OWN://k:9094")
    + broker("h", "network_mode: host", "ALL://0.0.0.0:9192", "LO://127.0.0.1:9193", f"OWN://{LAN_ADDRESS}:9194")
    + "  db: {image: postgres, networks: [a]}\n"
)


def made() -> Deployment:
    return world(SERVICES, "  a:\n  b:\n")


def word(delivery: SocketResult | None) -> str:
    match delivery:
        case Accepted():
            return delivery.entry.endpoint.listener
        case Relayed():
            return str(delivery.relay)
        case Failed():
            return str(delivery.mechanism)
        case Unknown():
            return "unknown"
        case None:
            return "nobody"


@pytest.mark.parametrize(
    ("network", "port", "expected"),
    [
        ("a", 9092, "ALL"),
        ("b", 9092, "ALL"),
        ("a", 9093, "bound-to-loopback"),
        ("a", 9094, "OWN"),
        ("b", 9094, "bound-to-other-address"),
        ("a", 1, "nobody-listens"),
    ],
)
def test_at_an_address(network: str, port: int, expected: str) -> None:
    deployment = made()
    assert word(accept_at_address(deployment, deployment.by_name["k"], network, port)) == expected


@pytest.mark.parametrize(
    ("family", "port", "expected"),
    [
        (Family.ANY, 9092, "ALL"),
        (Family.IPV6, 9092, "ALL"),
        (Family.IPV4, 9093, "LO"),
        (Family.IPV6, 9093, "no-ipv6-binding"),
        (Family.ANY, 9094, "bound-to-other-address"),
        (Family.ANY, 1, "own-loopback"),
    ],
)
def test_at_loopback(family: Family, port: int, expected: str) -> None:
    deployment = made()
    assert word(accept_at_loopback(deployment, deployment.by_name["k"], port, family)) == expected


@pytest.mark.parametrize(
    ("port", "address", "expected"),
    [
        (9192, "172.17.0.1", "ALL"),
        (9192, None, "ALL"),
        (9193, None, "LO"),
        (9193, LAN_ADDRESS, "bound-to-loopback"),
        (9194, LAN_ADDRESS, "OWN"),
        (9194, None, "bound-to-other-address"),
        (9194, "172.17.0.1", "bound-to-other-address"),
        (9194, "host-gateway", "unknown"),
        (1, None, "nobody"),
    ],
)
def test_in_host_mode(port: int, address: str | None, expected: str) -> None:
    assert word(accept_in_host_mode(made(), port, address=address)) == expected


@pytest.mark.parametrize(
    ("sockets", "expected"),
    [
        (None, "unknown"),
        ((), "nobody-listens"),
        ((("127.0.0.1", 5432),), "bound-to-loopback"),
        ((("0.0.0.0", 5432),), "unknown"),
    ],
)
def test_without_a_broker_the_sockets_count(sockets: tuple[tuple[str, int], ...] | None, expected: str) -> None:
    deployment = made()
    member = replace(deployment.by_name["db"], sockets=sockets)
    assert word(accept_at_address(deployment, member, "a", 5432)) == expected


def test_a_paused_broker_accepts_and_says_nothing() -> None:
    deployment = made()
    paused = [replace(b, member=replace(b.member, state=State.PAUSED)) for b in deployment.brokers]
    deployment = replace(deployment, brokers=tuple(paused))
    delivery = accept_at_address(deployment, deployment.by_name["k"], "a", 9092)
    assert word(delivery) == "paused"
    assert isinstance(delivery, Failed)
    assert delivery.reason.value == "timeout"
