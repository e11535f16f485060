"""Where connections end: rows of the decision table, and ways and published ports that it has no row for."""

from dataclasses import replace

import pytest

from netdiag.deployment.model.deployment import Deployment, Generation, Platform
from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.deployment.model.verdict import Failed, Reason, Unknown
from netdiag.deployment.prediction.client_namespace import (
    Family,
    HostAddress,
    Loopback,
    MemberAddress,
    OutsideAddress,
    Target,
    VacantAddress,
)
from netdiag.deployment.prediction.connection import connect
from netdiag.deployment.prediction.sockets import Accepted
from tests.deployment.stacks import deployment_of, five_brokers
from tests.deployment.worlds import LAN_ADDRESS, at, broker, world
from tests.each import each

H = Vantage(kind=VantageKind.DOCKER_HOST, label="H")
L = Vantage(kind=VantageKind.LAN, label="L")
C = Vantage(kind=VantageKind.CONTAINER, label="C", networks=("kafka",))
OTHER = Vantage(kind=VantageKind.OTHER_NETWORK, label="O")
HOST = HostAddress(text="<docker-host>")
B1 = MemberAddress(member="broker-1", network="kafka")


def end(vantage: Vantage, target: Target, port: int, *, proxy: bool | None = None, bind: str = "0.0.0.0") -> object:
    deployment = replace(deployment_of(five_brokers(external=bind)), platform=Platform(userland_proxy=proxy))
    delivery = connect(deployment, vantage, target, port)
    match delivery:
        case Accepted():
            return (delivery.broker.name, delivery.entry.endpoint.listener)
        case Failed():
            assert delivery.because
            return delivery.reason
        case Unknown():
            assert delivery.because
            return "unknown"


@pytest.mark.parametrize(
    ("row", "vantage", "target", "port", "expected"),
    [
        (1, C, B1, 29092, ("broker-1", "INTERNAL")),
        (3, C, B1, 1, Reason.REFUSED),
        (8, OTHER, B1, 29092, Reason.TIMEOUT),
        (10, C, HOST, 9091, ("broker-1", "EXTERNAL")),
        (14, OTHER, HOST, 9091, ("broker-1", "EXTERNAL")),
        (17, C, Loopback(), 9091, Reason.REFUSED),
        (19, H, B1, 29092, ("broker-1", "INTERNAL")),
        (20, H, Loopback(), 9092, ("broker-2", "EXTERNAL")),
        (21, H, HOST, 9092, ("broker-2", "EXTERNAL")),
        (23, L, HOST, 9095, ("broker-5", "EXTERNAL")),
        (27, L, B1, 29092, "unknown"),
        (0, L, HOST, 29092, Reason.REFUSED),
    ],
)
def test_row(row: int, vantage: Vantage, target: Target, port: int, expected: object) -> None:
    assert end(vantage, target, port) == expected


@pytest.mark.parametrize(
    ("host_ip", "target", "expected"),
    [
        ("::", Loopback(), ("broker-2", "EXTERNAL")),
        ("::", Loopback(family=Family.IPV4), Reason.REFUSED),
        ("::", Loopback(family=Family.IPV6), ("broker-2", "EXTERNAL")),
        ("::", HostAddress(text="192.168.8.133"), Reason.REFUSED),
        ("::", HostAddress(text="fd00::8"), ("broker-2", "EXTERNAL")),
        ("0.0.0.0", Loopback(family=Family.IPV6), Reason.REFUSED),
        ("0.0.0.0", HostAddress(text="192.168.8.133"), ("broker-2", "EXTERNAL")),
    ],
)
def test_a_port_is_for_its_version_of_ip(host_ip: str, target: Target, expected: object) -> None:
    port = f"[{host_ip}]" if ":" in host_ip else host_ip
    deployment = deployment_of(five_brokers().replace("9092:9092", f"{port}:9092:9092"))
    delivery = connect(deployment, H, target, 9092)
    found = delivery.reason if isinstance(delivery, Failed) else None
    if isinstance(delivery, Accepted):
        assert (delivery.broker.name, delivery.entry.endpoint.listener) == expected
    else:
        assert found == expected


@pytest.mark.parametrize(
    ("vantage", "target", "proxy", "expected"),
    [
        # row 20: through docker-proxy a dead port accepts first
        (H, Loopback(), True, Reason.CLOSED),
        (H, Loopback(), False, Reason.REFUSED),
        (H, HOST, True, Reason.REFUSED),
        (L, HOST, True, Reason.REFUSED),
        (C, HOST, True, Reason.CLOSED),
        (C, HOST, False, Reason.REFUSED),
        # row 2: bound to loopback inside, the container's address refuses
        (C, B1, True, Reason.REFUSED),
    ],
)
def test_a_listener_on_loopback(vantage: Vantage, target: Target, proxy: bool, expected: object) -> None:
    assert end(vantage, target, 9091, proxy=proxy, bind="127.0.0.1") == expected


def test_a_stopped_target_times_out() -> None:
    delivery = connect(deployment_of(five_brokers()).with_down({"broker-1"}), C, B1, 29092)
    assert isinstance(delivery, Failed)
    assert delivery.reason is Reason.TIMEOUT


def word(deployment: Deployment, client: str, target: Target, port: int) -> str:
    """The broker that accepts, else the mechanism, else "unknown"."""
    end = connect(deployment, at(deployment, client), target, port)
    match end:
        case Accepted():
            return end.broker.name
        case Failed():
            return str(end.mechanism)
        case Unknown():
            return "unknown"


WAYS_NETWORKS = """\
  a: {ipam: {config: [{subnet: 10.5.1.0/24}]}}
  b:
  i: {internal: true}
  o: {driver: overlay}
  d: {driver: macvlan}
  v: {driver: macvlan, driver_opts: {parent: eth0.50}}
  m: {driver: macvlan, driver_opts: {parent: eth0}}
"""
WAYS_SERVICES = (
    "".join(broker(f"k{network}", f"networks: [{network}]") for network in "abiodvm")
    + broker("lost", "network_mode: container:nobody-here")
    + broker("both", "networks: [i, b]")
)
WAYS = world(WAYS_SERVICES, WAYS_NETWORKS, Platform(generation=Generation.V28))


@pytest.mark.parametrize(
    ("client", "target", "expected"),
    [
        ("ka", "ka", "ka"),
        ("ka", "kb", "network-isolation"),
        ("ka", "ki", "network-isolation"),
        ("both", "ki", "ki"),
        ("both", "ka", "network-isolation"),
        ("ka", "ko", "unknown"),
        ("ko", "ko", "ko"),
        ("ko", "ka", "unknown"),
        ("host", "ko", "unknown"),
        ("host", "kd", "unknown"),
        ("host", "km", "parent-isolation"),
        ("km", "ka", "unknown"),
        ("lan", "km", "km"),
        ("lan", "kd", "unknown"),
        ("lan", "kv", "unknown"),
        ("lan", "ko", "unknown"),
        ("lost", "ka", "unknown"),
        ("elsewhere", "ka", "network-isolation"),
    ],
)
def test_to_a_member(client: str, target: str, expected: str) -> None:
    network = WAYS.by_name[target].attachments[0].network
    assert word(WAYS, client, MemberAddress(member=target, network=network), 9092) == expected


def test_ipv6_between_networks_is_not_modelled() -> None:
    target = MemberAddress(member="ka", network="a", six=True)
    assert word(WAYS, "host", target, 9092) == "unknown"


@pytest.mark.parametrize(
    ("client", "expected"), [("ka", "nobody-has-address"), ("host", "nobody-has-address"), ("kb", "network-isolation")]
)
def test_to_an_address_that_nobody_has(client: str, expected: str) -> None:
    assert word(WAYS, client, VacantAddress(text="10.5.1.9", network="a"), 9092) == expected


@pytest.mark.parametrize("client", ["host", "lan", "ka", "ki", "km"])
def test_what_nothing_explains_is_unknown(client: str) -> None:
    # ki: its network's subnet is the engine's choice, so the address may be a sibling's.
    assert word(WAYS, client, OutsideAddress(text="203.0.113.1"), 9092) == "unknown"


def test_out_of_an_internal_network() -> None:
    target = MemberAddress(member="kb", network="b")
    assert word(WAYS, "ki", target, 9092) == "internal-egress"
    assert word(replace(WAYS, platform=Platform()), "ki", target, 9092) == "unknown"


PORTS_NETWORKS = "  a:\n  o: {driver: overlay}\n  d: {driver: macvlan}\n  b: {internal: true}\n"
PORTS_SERVICES = (
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


@each(
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
@each("client", ["host", "lan", "c"])
def test_at_the_docker_host(client: str, port: int, expected: str) -> None:
    deployment = world(PORTS_SERVICES, PORTS_NETWORKS)
    assert word(deployment, client, HostAddress(text=LAN_ADDRESS), port) == expected


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
    deployment = world(PORTS_SERVICES, PORTS_NETWORKS, Platform(userland_proxy=True))
    assert word(deployment, "host", Loopback(family=family), port) == expected


def test_a_publisher_that_does_not_run() -> None:
    deployment = world(PORTS_SERVICES, PORTS_NETWORKS)
    target = HostAddress(text=LAN_ADDRESS)
    assert word(deployment.with_down({"k"}), "lan", target, 9092) == "not-running"


def test_another_name_of_the_docker_host_may_be_the_address_that_is_published_on() -> None:
    deployment = world(PORTS_SERVICES, PORTS_NETWORKS)
    assert word(deployment, "lan", HostAddress(text="<docker-host>"), 9101) == "unknown"
