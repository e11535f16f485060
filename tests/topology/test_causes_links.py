"""Routes, neighbours and cables that lead nowhere."""

from netdiag.deployment.mechanism import Mechanism
from netdiag.topology.causes_links import suspect_on_the_way, suspect_without_route
from netdiag.topology.hops import End
from tests.topology.failing_cases import failing, shop


def test_nobody_has_the_address() -> None:
    found = failing(shop(), "client", "172.20.0.99", 9092)
    assert found.path.end is End.NO_NEIGHBOUR
    suspect = suspect_on_the_way(found)
    assert suspect is not None
    assert suspect.mechanism is Mechanism.NOBODY_HAS_ADDRESS
    assert "on network shop" in suspect.because


def test_a_container_without_a_network() -> None:
    found = failing(shop(), "alone", "172.20.0.2", 9092)
    assert found.path.end is End.NO_ROUTE
    suspect = suspect_without_route(found)
    assert suspect is not None
    assert suspect.mechanism is Mechanism.NO_NETWORK
    assert suspect.remedies[0].text == "attach alone to network shop"
