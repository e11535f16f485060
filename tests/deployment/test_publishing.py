"""Published ports that the decision table has no row for."""

import pytest

from netdiag.deployment.model.contact import Failed
from netdiag.deployment.model.platform import Platform
from netdiag.deployment.prediction.client_namespace import Family, HostAddress, Unmodelled, client_namespace
from netdiag.deployment.prediction.connection import _to_docker_host, _to_host_loopback
from netdiag.deployment.prediction.sockets import Accepted, ConnectionResult
from tests.deployment.worlds import LAN_ADDRESS, NOBODY, at, broker, world

NETWORKS = "  a:\n  o: {driver: overlay}\n  d: {driver: macvlan}\n  b: {internal: true}\n"
SERVICES = (
    broker(
        "k", 'networks: [a]\n    ports: ["9092:9092", "9000-9001:9092-9093", "9100:9092/udp", "192.0.2.1:9101:9092"]'
    )
    + broker("six", 'networks: [a]\n    ports: ["[::1]:9102:9092"]')
    + broker("twin", 'networks: [a]\n    ports: ["9103:9092"]')
    + broker("other", 'networks: [a]\n    ports: ["9103:9092"]')
    + broker("over", 'networks: [o]\n    ports: ["9104:9092"]')
    + broker("wire", 'networks: [d]\n    ports: ["9105:9092"]')
    + broker("hosted", 'network_mode: host\n    ports: ["9106:9092"]', "ALL://:9692")
    + broker("both", 'networks: [a, b]\n    ports: ["9107:9092"]')
    + "  c: {image: alpine, networks: [a]}\n"
)


def word(delivery: ConnectionResult) -> str:
    match delivery:
        case Accepted():
            return delivery.broker.name
        case Failed():
            return str(delivery.mechanism)
        case Unmodelled():
            return "unknown"


@pytest.mark.parametrize(
    ("port", "expected"),
    [
        (9092, "k"),
        (9000, "k"),
        (9001, "published-to-dead-port"),
        (9100, "not-published"),
        (9101, "published-on-other-address"),
        (9102, "published-on-other-address"),
        (9103, "unknown"),
        (9104, "unknown"),
        (9105, "not-published"),
        (9106, "published-in-host-mode"),
        (9107, "both"),
    ],
)
@pytest.mark.parametrize("client", ["host", "lan", "c"])
def test_at_the_docker_host(client: str, port: int, expected: str) -> None:
    deployment = world(SERVICES, NETWORKS)
    stand = client_namespace(deployment, at(deployment, client))
    assert word(_to_docker_host(deployment, stand, HostAddress(text=LAN_ADDRESS), port, NOBODY)) == expected


@pytest.mark.parametrize(
    ("family", "port", "expected"),
    [
        (Family.ANY, 9102, "six"),
        (Family.IPV6, 9102, "six"),
        (Family.IPV4, 9102, "published-on-other-address"),
        (Family.IPV6, 9092, "k"),
        (Family.ANY, 9101, "published-on-other-address"),
    ],
)
def test_at_its_loopback(family: Family, port: int, expected: str) -> None:
    deployment = world(SERVICES, NETWORKS, Platform(userland_proxy=True))
    stand = client_namespace(deployment, at(deployment, "host"))
    assert word(_to_host_loopback(deployment, stand, port, NOBODY, family)) == expected


def test_a_publisher_that_does_not_run() -> None:
    deployment = world(SERVICES, NETWORKS)
    stand = client_namespace(deployment, at(deployment, "lan"))
    target = HostAddress(text=LAN_ADDRESS)
    assert word(_to_docker_host(deployment, stand, target, 9092, frozenset({"k"}))) == "not-running"


def test_another_name_of_the_docker_host_may_be_the_address_that_is_published_on() -> None:
    deployment = world(SERVICES, NETWORKS)
    stand = client_namespace(deployment, at(deployment, "lan"))
    assert word(_to_docker_host(deployment, stand, HostAddress(text="<docker-host>"), 9101, NOBODY)) == "unknown"
