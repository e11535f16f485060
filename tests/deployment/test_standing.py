"""Where clients stand."""

import pytest

from netdiag.deployment.platform import HostKind, Platform
from netdiag.deployment.standing import Ground, has_wire, is_bridge, network_of, on_wire, outward, standing
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
        ("host", Ground.DOCKER_HOST, None),
        ("lan", Ground.LAN, None),
        ("elsewhere", Ground.CONTAINER, ""),
        ("two", Ground.CONTAINER, "b"),
        ("beside", Ground.CONTAINER, "b"),
        ("closed", Ground.CONTAINER, None),
        ("lonely", Ground.NOWHERE, None),
        ("hosted", Ground.DOCKER_HOST, None),
        ("lost", Ground.UNKNOWN, None),
    ],
)
def test_ground(place: str, ground: Ground, egress: str | None) -> None:
    deployment = world(SERVICES, NETWORKS)
    found = standing(deployment, at(deployment, place))
    assert (found.ground, found.egress.key if found.egress else None) == (ground, egress)


def test_on_desktop_the_docker_host_is_the_user_s_machine() -> None:
    deployment = world(SERVICES, NETWORKS, Platform(kind=HostKind.DESKTOP))
    assert standing(deployment, at(deployment, "host")).ground is Ground.USER_MACHINE
    assert standing(deployment, at(deployment, "hosted")).ground is Ground.DOCKER_HOST


def test_networks() -> None:
    deployment = world(SERVICES, NETWORKS)
    wired, dummy, plain = (network_of(deployment, key) for key in "mda")
    assert on_wire(wired)
    assert has_wire(wired)
    assert on_wire(dummy)
    assert not has_wire(dummy)
    assert is_bridge(plain)
    assert not is_bridge(wired)
    assert network_of(deployment, "never heard of").name == "never heard of"
    assert outward(deployment, deployment.by_name["closed"]) is None
    assert standing(deployment, at(deployment, "two")).on(network_of(deployment, "i"))
