"""Which socket of a container accepts."""

from dataclasses import replace

import pytest

from netdiag.deployment.model.contact import Failed, Unknown
from netdiag.deployment.model.deployment import Deployment, State
from netdiag.deployment.prediction.client_namespace import Family
from netdiag.deployment.prediction.sockets import (
    Accepted,
    ConnectionResult,
    accept_at_address,
    accept_at_loopback,
    accept_in_host_mode,
)
from tests.deployment.worlds import LAN_ADDRESS, broker, world

SERVICES = (
    broker("k", "networks: [a, b]", "ALL://0.0.0.0:9092", "LO://127.0.0.1:9093", "OWN://k:9094")
    + broker("h", "network_mode: host", "ALL://0.0.0.0:9192", "LO://127.0.0.1:9193", f"OWN://{LAN_ADDRESS}:9194")
    + "  db: {image: postgres, networks: [a]}\n"
)


def made() -> Deployment:
    return world(SERVICES, "  a:\n  b:\n")


def word(delivery: ConnectionResult | None) -> str:
    match delivery:
        case Accepted():
            return delivery.entry.endpoint.listener
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
