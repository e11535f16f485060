"""The join of a whole machine: everything has its counterpart, or a line that says what has none."""

import pytest

from netdiag.topology.graph import CableKind, PlaceKind, Topology
from netdiag.topology.inventory import Inventory
from netdiag.topology.join import join
from tests.topology.five_brokers import crowd, five_brokers, hostile, machine
from tests.topology.spaces import ROOT


def test_five_brokers_have_nothing_unmatched() -> None:
    topology = five_brokers()
    assert topology.unmatched == ()
    assert (topology.host, topology.userland_proxy) == ("host", True)
    assert [place.name for place in topology.places] == [
        "host",
        *(f"shop-broker-{number}-1" for number in range(1, 6)),
        "shop-client-1",
        "shop-ui-1",
        "lan",
    ]
    assert [listener.key for listener in topology.listeners[:3]] == [
        "broker-1/INTERNAL",
        "broker-1/EXTERNAL",
        "broker-1/CONTROLLER",
    ]


@pytest.mark.parametrize("made", [five_brokers(), machine(userland_proxy=False).topology(), hostile(), crowd(60)])
def test_what_refers_to_something_finds_it(made: Topology) -> None:
    assert made.unmatched == ()
    known = {one.netns: one for one in made.places}
    assert len({place.name for place in made.places}) == len(known) == len(made.inventory.namespaces)
    for cable in made.cables:
        assert made.inventory.link(cable.a) is not None
        assert made.inventory.link(cable.b) is not None
    for view in made.networks:
        assert view.bridge is not None
        running = [m for m in view.members if made.containers[m.container].state.has_process]
        for member in running:
            assert member.inside is not None
            assert member.port is not None
            assert known[member.inside.netns].containers == (member.container,)
    keys = {port.key for port in made.published}
    assert len(keys) == len(made.published)
    assert all(set(listener.published) <= keys for listener in made.listeners)
    assert all(port.by and port.pids for port in made.published)


def test_a_machine_without_an_engine() -> None:
    inventory = machine().inventory()
    topology = join(inventory, engine="no engine answers at unix:///var/run/docker.sock")
    assert (topology.host, topology.networks, topology.published) == ("", (), ())
    assert topology.engine.startswith("no engine")
    assert topology.places[0].kind is PlaceKind.HOST
    assert {cable.kind for cable in topology.cables} == {CableKind.VETH, CableKind.PORT}
    assert topology.unmatched == ()


def test_an_engine_elsewhere_is_not_joined_with_this_kernel() -> None:
    """The containers' pids and addresses exist here, too, and mean somebody else."""
    made = machine()
    whole = made.topology()
    topology = join(
        made.inventory(),
        containers=whole.containers.values(),
        networks=made.networks.values(),
        deployment=whole.deployment,
        docker_host=None,
    )
    assert all(not place.containers for place in topology.places)
    assert all(view.bridge is None for view in topology.networks)
    assert all(member.inside is None for view in topology.networks for member in view.members)
    assert {(port.dnat, port.proxies, port.pids) for port in topology.published} == {((), (), None)}
    assert {listener.bound for listener in topology.listeners} == {None}
    assert topology.listeners[1].published == ("0.0.0.0:9091/tcp", "[::]:9091/tcp")
    assert topology.unmatched == ()


def test_an_empty_inventory() -> None:
    topology = join(Inventory(namespaces={}, own=ROOT, complete=False), docker_host=ROOT)
    assert (topology.places, topology.host) == ((), "")
