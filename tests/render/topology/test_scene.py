"""Boxes, rows and pills of a scene, and what is said of those that do not work."""

from dataclasses import replace

from netdiag.engine.container import Status
from netdiag.linux.rtnetlink import Link
from netdiag.render.topology.broker_access import BrokerAccess, Mark
from netdiag.render.topology.scene import Scene, endpoint, scene
from netdiag.topology.graph import Topology
from tests.render.topology.ways import with_ways
from tests.topology.five_brokers import five_brokers, machine
from tests.topology.namespaces import UP


def drawn(topology: Topology) -> Scene:
    """The scene of a topology."""
    return scene(BrokerAccess(topology=topology))


def test_a_broker_has_its_listeners_those_for_clients_first() -> None:
    box = next(box for box in drawn(with_ways(five_brokers())).boxes if box.key == "place:shop-broker-1-1")
    assert [(row.name, row.bind, row.advertised, row.mark, row.reached) for row in box.rows] == [
        ("EXTERNAL", "0.0.0.0:9091", "localhost:9091", Mark.HALF, "1/7"),
        ("INTERNAL", "0.0.0.0:29092", "broker-1:29092", Mark.OK, "6/7"),
        ("CONTROLLER", "*:19093", "", Mark.NONE, ""),
    ]


def test_a_listener_that_nobody_serves_is_bad_without_any_way() -> None:
    topology = five_brokers()
    silent = replace(topology.listeners[0], bound=())
    rows = [row for box in drawn(replace(topology, listeners=(silent,))).boxes for row in box.rows]
    assert [row.mark for row in rows] == [Mark.BAD]


def test_what_does_not_run_stays_in_the_picture() -> None:
    box = next(box for box in drawn(five_brokers()).boxes if box.title == "shop-init-1")
    assert (box.key, box.state) == ("container:shop-init-1", "exited")


def test_who_shares_the_network_of_the_host_hangs_from_it() -> None:
    made = machine()
    made.container("monitor", status=Status.EXITED)
    topology = made.topology()
    host = next(place for place in topology.places if place.name == topology.host)
    running = {
        key: replace(one, state=replace(one.state, status=Status.RUNNING)) if one.name == "monitor" else one
        for key, one in topology.containers.items()
    }
    places = tuple(
        replace(place, containers=(list(topology.containers)[-1],)) if place is host else place
        for place in topology.places
    )
    found = drawn(replace(topology, places=places, containers=running))
    assert [bar.attachments[0].place for bar in found.bars if bar.key == "network of the host"] == ["container:monitor"]


def test_both_families_of_a_port_are_one_pill() -> None:
    topology = five_brokers()
    first = next(port for port in topology.published if port.published == 9091)
    six = replace(first, key="[::]:9091/tcp", host_ip="::")
    pills = drawn(replace(topology, published=(first, six))).pills
    assert [(pill.key, pill.text, len(pill.ports)) for pill in pills] == [
        (f"port:{first.key}", "0.0.0.0+[::]:9091 → 9091", 2)
    ]
    assert pills[0].box == "place:shop-broker-1-1"


def test_why_a_pill_is_dead() -> None:
    topology = five_brokers()
    port = topology.published[0]
    for broken, why in (
        (replace(port, in_force=False), "configured, not in force"),
        (replace(port, dnat=(), proxies=()), "neither a NAT rule nor a docker-proxy leads to it"),
        (replace(port, pids=()), "nothing listens behind it"),
        (replace(port, pids=None), ""),
        (port, ""),
    ):
        assert drawn(replace(topology, published=(broken,))).pills[0].dead == why


def test_a_namespace_that_nobody_could_enter_says_why() -> None:
    topology = five_brokers()
    lan = next(place for place in topology.places if place.label == "lan")
    closed = replace(topology.inventory.namespaces[lan.netns], entered=False, links=())
    namespaces = {**topology.inventory.namespaces, lan.netns: closed}
    found = drawn(replace(topology, inventory=replace(topology.inventory, namespaces=namespaces)))
    assert next(box.unknown for box in found.boxes if box.title == "lan") == "it could not be inspected"


def test_devices_of_the_host_are_told_with_what_they_stand_on() -> None:
    made = machine()
    bond = made.host.free_index()
    made.host.add(Link(ifindex=bond, ifname="bond0", kind="bond", flags=UP))
    made.host.add(Link(ifindex=bond + 1, ifname="eth1", flags=UP, master=bond))
    made.host.add(Link(ifindex=bond + 2, ifname="bond0.7", kind="vlan", flags=0, link=bond))
    texts = [chip.text for chip in drawn(made.topology()).chips]
    assert texts == ["lo 127.0.0.1", "eth0 192.168.8.133", "bond0 bond", "eth1 in bond0", "bond0.7 vlan on bond0 (off)"]


def test_addresses_of_the_sixth_version_stand_in_brackets() -> None:
    assert [endpoint("::", 1), endpoint("", 2), endpoint("a", 3)] == ["[::]:1", "*:2", "a:3"]
