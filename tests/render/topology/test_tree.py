"""The tree as people see it: kept outputs, and what must not get lost in it."""

from dataclasses import replace

import pytest

from netdiag.findings import Finding, Severity, TopologyLocation
from netdiag.linux.netns import Netns
from netdiag.linux.rtnetlink import Link
from netdiag.render.screen import Screen
from netdiag.render.topology.tree import tree_text
from netdiag.topology.graph import Place, PlaceKind, Topology
from netdiag.topology.inventory import Inventory, NamespaceFacts
from tests.render.golden import assert_golden
from tests.render.topology.hostile import hostile
from tests.render.topology.namespaces import HOST, UP, broker_id, loopback
from tests.render.topology.topologies import cluster

FINDING = Finding(
    rule="topology-port-down",
    severity=Severity.WARNING,
    message="the port is down",
    location=TopologyLocation(place="host", device="veth1a2b3c4"),
    why="somebody has switched it off",
    hint="ip link set veth1a2b3c4 up",
)


@pytest.mark.parametrize(
    ("name", "brokers", "screen"),
    [
        ("two-80-colour", 2, Screen(width=80, colour=True)),
        ("two-140", 2, Screen(width=140)),
        ("twelve-100", 12, Screen(width=100)),
    ],
)
def test_kept_outputs(name: str, brokers: int, screen: Screen) -> None:
    assert_golden(f"topology/tree-{name}.txt", tree_text(cluster(brokers), screen, [FINDING]))


def test_no_line_is_wider_than_the_screen() -> None:
    for columns in (60, 80, 140):
        text = tree_text(cluster(5), Screen(width=columns))
        assert max(map(len, text.splitlines())) <= max(columns, len(text.splitlines()[-1]))


def test_the_last_line_says_how_much_was_seen() -> None:
    assert tree_text(cluster(), Screen()).splitlines()[-1].startswith("3 namespaces, 9 links, ")


def lonely(*links: Link, name: str = "host", kind: PlaceKind = PlaceKind.HOST) -> Topology:
    facts = NamespaceFacts(netns=Netns(inode=HOST), links=(loopback(), *links))
    return Topology(
        inventory=Inventory(namespaces={HOST: facts}, own=HOST),
        places=(Place(netns=HOST, kind=kind, name=name, label=name),),
    )


def test_hostile_names_of_every_kind_stay_on_their_lines() -> None:
    text = tree_text(hostile(), Screen(width=120))
    assert not {character for character in text if not character.isprintable()} - {"\n"}
    assert "<script>" in text


def test_hostile_names_draw_nothing() -> None:
    name = "\x1b[2J\u202eevil\n"
    text = tree_text(lonely(Link(ifindex=2, ifname=name, flags=UP), name=name), Screen(colour=False))
    assert "\\x1b[2J\\u202eevil\\n" in text
    assert not {"\x1b", "\u202e"} & set(text)


@pytest.mark.parametrize(
    ("link", "words"),
    [
        (Link(ifindex=2, ifname="eth9", flags=0), "eth9 physical  down"),
        (Link(ifindex=2, ifname="v10", kind="vlan", flags=UP, mtu=1500, details={"id": 10}), "v10 vlan  id 10"),
        (Link(ifindex=2, ifname="t0", kind="tun", flags=UP, mtu=1400, details={"type": "tap"}), "t0 tap  mtu 1400"),
        (Link(ifindex=2, ifname="what0", kind="qmi9", flags=UP, mtu=1500), "what0 qmi9"),
        (Link(ifindex=2, ifname="odd0", type=4711, flags=UP, mtu=1500), "odd0 type 4711"),
        (
            Link(ifindex=2, ifname="veth0", kind="veth", flags=UP, mtu=1500),
            "veth0 veth  its peer is not in a visible namespace",
        ),
    ],
)
def test_devices_that_stand_alone(link: Link, words: str) -> None:
    assert f"`- {words}" in tree_text(lonely(link), Screen(width=140))


def test_what_the_engine_knows_and_nobody_sees_is_drawn() -> None:
    """Without rights: no namespace of a container, no device; its addresses and ports are known all the same."""
    topology = cluster()
    view = topology.networks[0]
    members = tuple(replace(member, inside=None, port=None) for member in view.members)
    unseen = replace(
        topology,
        places=topology.places[:1],
        cables=(),
        networks=(replace(view, bridge=None, members=members),),
        inventory=Inventory(namespaces={HOST: NamespaceFacts(netns=Netns(inode=HOST), entered=False)}, own=HOST),
        listeners=tuple(replace(listener, bound=None, pids=()) for listener in topology.listeners),
        published=tuple(replace(each, dnat=(), proxies=(), pids=None) for each in topology.published),
        reach=(),
    )
    assert_golden("topology/tree-unseen.txt", tree_text(unseen, Screen(width=100)))


@pytest.mark.parametrize(
    ("driver", "parent", "words"),
    [
        ("macvlan", "eth0", "its eth0"),
        ("host", "", "has the devices of the docker host"),
        ("null", "", "has only loopback"),
        ("overlay", "", "its device is not visible"),
    ],
)
def test_members_of_networks_without_a_bridge(driver: str, parent: str, words: str) -> None:
    topology = cluster()
    view = topology.networks[0]
    (first, *_) = view.members
    network = replace(view.network, name="other", driver=driver, bridge_name="", parent=parent)
    member = replace(first, port=None, inside=first.inside if parent else None)
    other = replace(view, network=network, bridge=view.bridge if parent else None, members=(member,))
    text = tree_text(replace(topology, networks=(view, other)), Screen(width=140))
    told = text[text.index(f"other network of driver {driver}") :].splitlines()
    assert told[1] == f"`- broker-1  172.18.0.2  {words}"
    assert told[0].endswith("  on br-0a1b2c3d4e5f") == bool(parent)
    assert "demo_kafka br-0a1b2c3d4e5f" in " ".join(text.split())


def test_a_port_that_leads_nowhere_is_told() -> None:
    topology = cluster()
    first, second = topology.published
    dead = (
        replace(first, pids=()),
        replace(second, in_force=False, dnat=(), proxies=(), pids=None),
    )
    silent = tuple(replace(listener, bound=(), pids=()) for listener in topology.listeners)
    text = tree_text(replace(topology, published=dead, listeners=silent), Screen(width=140))
    assert "nothing listens behind it" in text
    assert "configured, not in force" in text
    assert "binds 0.0.0.0:9091, nothing listens there" in text


def test_findings_that_tell_the_same_are_told_once() -> None:
    many = [replace(FINDING, location=TopologyLocation(place="host", device=f"port{n}")) for n in range(20)]
    lines = tree_text(cluster(), Screen(), many).splitlines()
    assert sum("the port is down" in line for line in lines) == 1
    assert "    and 13 more places" in lines
    assert tree_text(cluster(), Screen(), many, full=True).count("the port is down") == 20


def test_ports_stand_in_the_order_of_the_names_behind_them() -> None:
    topology = cluster(11)
    (view, members) = (topology.networks[0], tuple(reversed(topology.networks[0].members)))
    turned = replace(topology, cables=tuple(reversed(topology.cables)), networks=(replace(view, members=members),))
    assert tree_text(turned, Screen(), full=True) == tree_text(topology, Screen(), full=True)


def test_many_places_that_nobody_may_look_into_are_counted() -> None:
    spaces = {n: NamespaceFacts(netns=Netns(inode=n), entered=False) for n in range(100, 140)}
    closed = Topology(
        inventory=Inventory(namespaces=spaces, own=0, complete=False),
        places=tuple(Place(netns=n, kind=PlaceKind.NAMED, name=f"lab-{n}", label="") for n in spaces),
    )
    assert tree_text(closed, Screen(width=100)).splitlines()[:5] == [
        "lab-100 network namespace  could not be inspected",
        "lab-101 network namespace  could not be inspected",
        "lab-102 network namespace  could not be inspected",
        "and 37 more like these: lab-103 to lab-139",
        "",
    ]


def test_a_stopped_container_is_named() -> None:
    topology = cluster()
    stopped = replace(topology.containers[broker_id(1)], id="f" * 64, name="old")
    text = tree_text(replace(topology, containers={**topology.containers, stopped.id: stopped}), Screen())
    assert "old container, running" in text
