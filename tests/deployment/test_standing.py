"""Where clients stand."""

import pytest

from netdiag.deployment.model.platform import HostKind, Platform
from netdiag.deployment.prediction.client_namespace import (
    NamespaceKind,
    client_namespace,
    has_real_parent,
    is_bridge,
    network_of,
    publishing_network,
    uses_parent_device,
)
from tests.deployment.worlds import at, broker, world

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
