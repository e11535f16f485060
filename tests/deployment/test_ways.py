"""Ways that the decision table has no row for."""

import pytest

from netdiag.deployment.model.contact import Failed
from netdiag.deployment.model.platform import Generation, Platform
from netdiag.deployment.prediction.client_namespace import (
    MemberAddress,
    OutsideAddress,
    Unmodelled,
    VacantAddress,
    client_namespace,
)
from netdiag.deployment.prediction.connection import (
    Obstacle,
    _missing_route,
    _obstacle_to_member,
    _to_outside_address,
    _to_vacant_address,
)
from tests.deployment.worlds import at, broker, world

NETWORKS = """\
  a: {ipam: {config: [{subnet: 10.5.1.0/24}]}}
  b:
  i: {internal: true}
  o: {driver: overlay}
  d: {driver: macvlan}
  v: {driver: macvlan, driver_opts: {parent: eth0.50}}
  m: {driver: macvlan, driver_opts: {parent: eth0}}
"""
SERVICES = (
    "".join(broker(f"k{network}", f"networks: [{network}]") for network in "abiodvm")
    + broker("lost", "network_mode: container:nobody-here")
    + broker("both", "networks: [i, b]")
)
DEPLOYMENT = world(SERVICES, NETWORKS, Platform(generation=Generation.V28))


def word(obstacle: Obstacle | None) -> str:
    match obstacle:
        case Failed():
            return str(obstacle.mechanism)
        case Unmodelled():
            return "unknown"
        case None:
            return "free"


@pytest.mark.parametrize(
    ("client", "target", "expected"),
    [
        ("ka", "ka", "free"),
        ("ka", "kb", "network-isolation"),
        ("ka", "ki", "network-isolation"),
        ("both", "ki", "free"),
        ("both", "ka", "network-isolation"),
        ("ka", "ko", "unknown"),
        ("ko", "ko", "free"),
        ("ko", "ka", "unknown"),
        ("host", "ko", "unknown"),
        ("host", "kd", "unknown"),
        ("host", "km", "parent-isolation"),
        ("km", "ka", "unknown"),
        ("lan", "km", "free"),
        ("lan", "kd", "unknown"),
        ("lan", "kv", "unknown"),
        ("lan", "ko", "unknown"),
        ("lost", "ka", "unknown"),
        ("elsewhere", "ka", "network-isolation"),
    ],
)
def test_to_a_member(client: str, target: str, expected: str) -> None:
    network = DEPLOYMENT.by_name[target].attachments[0].network
    stand = client_namespace(DEPLOYMENT, at(DEPLOYMENT, client))
    assert word(_obstacle_to_member(DEPLOYMENT, stand, MemberAddress(member=target, network=network), 9092)) == expected


def test_ipv6_between_networks_is_not_modelled() -> None:
    stand = client_namespace(DEPLOYMENT, at(DEPLOYMENT, "host"))
    target = MemberAddress(member="ka", network="a", six=True)
    assert word(_obstacle_to_member(DEPLOYMENT, stand, target, 9092)) == "unknown"


@pytest.mark.parametrize(
    ("client", "expected"), [("ka", "nobody-has-address"), ("host", "nobody-has-address"), ("kb", "network-isolation")]
)
def test_to_an_address_that_nobody_has(client: str, expected: str) -> None:
    stand = client_namespace(DEPLOYMENT, at(DEPLOYMENT, client))
    assert word(_to_vacant_address(DEPLOYMENT, stand, VacantAddress(text="10.5.1.9", network="a"))) == expected


@pytest.mark.parametrize("client", ["host", "lan", "ka", "ki", "km"])
def test_what_nothing_explains_is_unknown(client: str) -> None:
    # ki: its network's subnet is the engine's choice, so the address may be a sibling's.
    stand = client_namespace(DEPLOYMENT, at(DEPLOYMENT, client))
    assert word(_to_outside_address(DEPLOYMENT, stand, OutsideAddress(text="203.0.113.1"))) == "unknown"


def test_ways_out() -> None:
    assert word(_missing_route(DEPLOYMENT.platform, client_namespace(DEPLOYMENT, at(DEPLOYMENT, "ka")))) == "free"
    closed = client_namespace(DEPLOYMENT, at(DEPLOYMENT, "ki"))
    assert word(_missing_route(DEPLOYMENT.platform, closed)) == "internal-egress"
    assert word(_missing_route(Platform(), closed)) == "unknown"
