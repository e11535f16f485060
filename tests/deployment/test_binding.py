"""What a listener binds, by its host."""

import pytest

from netdiag.deployment.prediction.sockets import Reach, binding
from tests.deployment.stacks import deployment_of, five_brokers


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
