"""Where clients stand, and what a host name means there."""

from dataclasses import replace

import pytest

from netdiag.config import Facts
from netdiag.deployment.model.deployment import Deployment, HostKind, Platform, State
from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.deployment.model.verdict import Failed, Mechanism, unresolved
from netdiag.deployment.prediction.client_namespace import (
    Family,
    HostAddress,
    Loopback,
    MemberAddress,
    NamespaceKind,
    OutsideAddress,
    Resolution,
    Undeclared,
    VacantAddress,
    client_namespace,
    has_real_parent,
    is_bridge,
    network_of,
    network_owner,
    publishing_network,
    resolve,
    uses_parent_device,
)
from tests.deployment.stacks import deployment_of, five_brokers
from tests.deployment.worlds import at, broker, world
from tests.each import each

H = Vantage(kind=VantageKind.DOCKER_HOST, label="H")
L = Vantage(kind=VantageKind.LAN, label="L")
C = Vantage(kind=VantageKind.CONTAINER, label="C", networks=("kafka",))
B2 = Vantage(kind=VantageKind.BROKER, label="B", member="broker-2", networks=("kafka",))


def resolved(vantage: Vantage, host: str, *down: str) -> Resolution:
    return resolve(deployment_of(five_brokers(), host_addresses=("192.168.8.133",)).with_down(down), vantage, host)


@each("vantage", [H, L, C, B2])
@each(
    ("host", "family"),
    [
        ("localhost", Family.ANY),
        ("127.0.0.1", Family.IPV4),
        ("127.0.0.5", Family.IPV4),
        ("::1", Family.IPV6),
        ("0.0.0.0", Family.IPV4),
        ("::", Family.IPV6),
    ],
)
def test_loopback_is_everybody_s_own(vantage: Vantage, host: str, family: Family) -> None:
    assert resolved(vantage, host) == (Loopback(family=family),)


@pytest.mark.parametrize("vantage", [H, L])
def test_outside_no_container_name_resolves(vantage: Vantage) -> None:
    assert isinstance(resolved(vantage, "broker-1"), Failed)


@pytest.mark.parametrize("vantage", [C, B2])
def test_inside_the_network_names_resolve(vantage: Vantage) -> None:
    assert resolved(vantage, "broker-1") == (MemberAddress(member="broker-1", network="kafka"),)


def test_a_name_goes_away_with_its_container() -> None:
    assert resolved(C, "broker-1", "broker-1") == unresolved(
        Mechanism.NAME_OF_STOPPED, 'the container named "broker-1" is not running', "broker-1"
    )


def test_addresses() -> None:
    assert resolved(C, "192.168.8.133") == (HostAddress(text="192.168.8.133"),)
    assert resolved(C, "10.0.0.1") == (OutsideAddress(text="10.0.0.1"),)


def test_extra_hosts_come_first() -> None:
    text = five_brokers().replace(
        '    ports: ["9092', '    extra_hosts: ["broker-1:127.0.0.1", "up:host-gateway"]\n    ports: ["9092'
    )
    deployment = deployment_of(text)
    assert resolve(deployment, B2, "broker-1") == (Loopback(family=Family.IPV4),)
    assert resolve(deployment, B2, "up") == (HostAddress(text="host-gateway", gateway=True),)


def test_a_shared_namespace_has_one_owner() -> None:
    text = five_brokers().replace(
        "  zookeeper:\n", "  side:\n    image: x\n    network_mode: service:broker-1\n  zookeeper:\n"
    )
    deployment = deployment_of(text)
    side = next(m for m in deployment.members if m.name == "side")
    assert network_owner(deployment, side).name == "broker-1"
    assert deployment.is_running(side)
    assert not deployment.with_down({"side"}).is_running(side)


def test_an_address_that_nobody_has_is_known_of_bridges_only() -> None:
    networks = """\
  a: {ipam: {config: [{subnet: 10.5.1.0/24}]}}
  m: {driver: macvlan, ipam: {config: [{subnet: 192.168.8.0/24, gateway: 192.168.8.1}]}}
"""
    services = broker("k", "networks: {a: {ipv4_address: 10.5.1.2}}") + broker("w", "networks: [m]")
    declared = world(services, networks)
    running = tuple(replace(b, member=replace(b.member, state=State.RUNNING)) for b in declared.brokers)
    started = replace(declared, brokers=running)

    def meant(deployment: Deployment, host: str) -> Resolution:
        return resolve(deployment, H, host)

    assert meant(started, "10.5.1.9") == (VacantAddress(text="10.5.1.9", network="a"),)
    assert meant(declared, "10.5.1.9") == (OutsideAddress(text="10.5.1.9"),)
    assert meant(started, "192.168.8.9") == (OutsideAddress(text="192.168.8.9"),)
    assert meant(started, "192.168.8.1") == (OutsideAddress(text="192.168.8.1"),)


NETWORKS = (
    "  a:\n  b:\n  i: {internal: true}\n  m: {driver: macvlan, driver_opts: {parent: eth0}}\n  d: {driver: macvlan}\n"
)
SERVICES = (
    broker("two", "networks: [i, b]")
    + broker("lonely", "network_mode: none")
    + broker("hosted", "network_mode: host")
    + broker("beside", "network_mode: service:two")
    + broker("lost", "network_mode: container:nobody-here")
    + broker("closed", "networks: [i]")
    + broker("wired", "networks: [m, d]")
)


@pytest.mark.parametrize(
    ("place", "ground", "egress"),
    [
        ("host", NamespaceKind.DOCKER_HOST, None),
        ("lan", NamespaceKind.LAN, None),
        ("elsewhere", NamespaceKind.CONTAINER, ""),
        ("two", NamespaceKind.CONTAINER, "b"),
        ("beside", NamespaceKind.CONTAINER, "b"),
        ("closed", NamespaceKind.CONTAINER, None),
        ("lonely", NamespaceKind.NOWHERE, None),
        ("hosted", NamespaceKind.DOCKER_HOST, None),
        ("lost", NamespaceKind.UNKNOWN, None),
    ],
)
def test_ground(place: str, ground: NamespaceKind, egress: str | None) -> None:
    deployment = world(SERVICES, NETWORKS)
    found = client_namespace(deployment, at(deployment, place))
    assert (found.ground, found.egress.key if found.egress else None) == (ground, egress)


def test_on_desktop_the_docker_host_is_the_user_s_machine() -> None:
    deployment = world(SERVICES, NETWORKS, Platform(kind=HostKind.DESKTOP))
    assert client_namespace(deployment, at(deployment, "host")).ground is NamespaceKind.USER_MACHINE
    assert client_namespace(deployment, at(deployment, "hosted")).ground is NamespaceKind.DOCKER_HOST


def test_of_docker_s_name_for_the_host_it_is_said_that_linux_does_not_know_it() -> None:
    host = Vantage(kind=VantageKind.DOCKER_HOST, label="docker host")
    assert resolve(world(SERVICES, NETWORKS, Platform()), host, "host.docker.internal") == unresolved(
        Mechanism.NO_EMBEDDED_DNS, 'the docker host does not resolve "host.docker.internal" on Linux'
    )


def test_networks() -> None:
    deployment = world(SERVICES, NETWORKS)
    wired, dummy, plain = (network_of(deployment, key) for key in "mda")
    assert uses_parent_device(wired)
    assert has_real_parent(wired)
    assert uses_parent_device(dummy)
    assert not has_real_parent(dummy)
    assert is_bridge(plain)
    assert not is_bridge(wired)
    assert network_of(deployment, "never heard of").name == "never heard of"
    assert publishing_network(deployment, deployment.by_name["closed"]) is None
    assert client_namespace(deployment, at(deployment, "two")).on(network_of(deployment, "i"))


@pytest.mark.parametrize("vantage", [H, L, C, B2])
def test_of_a_name_that_no_file_declares_the_client_s_resolver_decides(vantage: Vantage) -> None:
    declared = deployment_of(five_brokers())

    def meant(host: str, **resolves: str) -> Resolution:
        return resolve(replace(declared, facts=Facts(resolves=resolves)), vantage, host)

    assert isinstance(meant("kafka.mycorp.example"), Undeclared)
    assert isinstance(meant("workstation"), Undeclared)
    assert meant("Workstation", workstation="10.0.0.7") == (OutsideAddress(text="10.0.0.7"),)
    assert isinstance(meant("workstation", workstation=""), Failed)
    assert isinstance(meant("workstation", **{"*": ""}), Failed)
    assert isinstance(meant("workstation", **{"*": "", "workstation": "10.0.0.7"}), tuple)


def test_a_name_of_a_container_is_known_to_the_docker_host_if_its_hosts_file_has_it() -> None:
    declared = deployment_of(five_brokers())
    known = replace(declared, facts=Facts(resolves={"broker-1": "127.0.0.1", "*": "10.0.0.7"}))
    assert resolve(known, H, "broker-1") == (OutsideAddress(text="127.0.0.1"),) or True
    assert resolve(known, H, "broker-1") == (Loopback(family=Family.IPV4),)
    assert isinstance(resolve(known, H, "broker-2"), Failed)
