"""The tree as people see it: kept outputs, branches, services, who reaches which broker."""

import json
import re
from dataclasses import replace

import pytest

from netdiag.findings import Finding, Severity, TopologyLocation
from netdiag.linux.netns import Netns
from netdiag.linux.rtnetlink import Link
from netdiag.linux.sockets import Listener, Protocol
from netdiag.render.screen import Run, Screen, Style, line_width, paint
from netdiag.render.topology.lookup import Lookup
from netdiag.render.topology.tree import (
    Branch,
    branch_glyphs,
    change_summary,
    changes_json,
    changes_text,
    draw_branches,
    reach_branches,
    service_branches,
    tree_text,
)
from netdiag.render.wording import endpoint_text, first_and_last
from netdiag.topology.diff import ChangeKind, Difference, FactChange
from netdiag.topology.graph import PathEnd, Place, PlaceKind, Reach, Topology
from netdiag.topology.inventory import Inventory, NamespaceFacts
from netdiag.topology.path.reach import with_reach
from tests.house.examples import differs
from tests.house.tree import ROOT
from tests.render.golden import assert_golden
from tests.render.topology.hostile import EVIL, hostile
from tests.render.topology.namespaces import HOST, UP, broker_id, loopback
from tests.render.topology.topologies import cluster
from tests.topology.five_brokers import five_brokers

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
    assert "configured, but not published" in text
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


def leaf(text: str, *more: str, name: str = "") -> Branch:
    return Branch(parts=tuple((Run(each),) for each in (text, *more)), name=name or text)


def text(root: Branch, screen: Screen, *, full: bool = False) -> str:
    return paint(draw_branches([root], screen, full=full), Screen(width=screen.width))


TREE = Branch(
    parts=((Run("host"),),),
    children=(Branch(parts=((Run("br0"),),), children=(leaf("a"), leaf("b"))), leaf("eth0")),
)


def test_a_tree_is_ascii_in_a_pipe() -> None:
    assert text(TREE, Screen()) == "host\n|- br0\n|  |- a\n|  `- b\n`- eth0\n"


def test_and_drawn_on_a_terminal_that_has_the_letters() -> None:
    assert text(TREE, Screen(colour=True)) == "host\n├─ br0\n│  ├─ a\n│  └─ b\n└─ eth0\n"
    assert branch_glyphs(Screen(colour=True, encoding="ascii")) == branch_glyphs(Screen())


def test_a_long_line_is_folded_between_its_parts_and_the_drawing_goes_on() -> None:
    root = Branch(
        parts=((Run("host"),),),
        children=(
            Branch(parts=((Run("first part"),), (Run("second part"),), (Run("third"),)), children=(leaf("x"),)),
            leaf("end"),
        ),
    )
    assert text(root, Screen(width=26)) == ("host\n|- first part  second part\n|  |   third\n|  `- x\n`- end\n")


def test_a_part_wider_than_the_screen_is_folded_between_words_and_keeps_its_style() -> None:
    words = "one two three four five six seven eight nine ten eleven twelve"
    lines = draw_branches([Branch(parts=((Run("x: "), Run(words, Style.BAD)),))], Screen(width=40))
    assert all(line_width(line) <= 40 for line in lines)
    assert " ".join(run.text for line in lines for run in line if run.style is Style.BAD) == words


def test_branches_that_differ_in_numbers_are_counted() -> None:
    many = Branch(parts=((Run("br0"),),), children=tuple(leaf(f"veth{n:x}", name=f"ns-{n}") for n in range(200)))
    assert text(many, Screen()) == "br0\n|- veth0\n|- veth1\n|- veth2\n`- and 197 more like these: ns-3 to ns-199\n"
    assert text(many, Screen(), full=True).count("veth") == 200


def test_an_odd_one_among_many_is_drawn_in_its_place() -> None:
    children = [leaf(f"veth{n}", name=f"ns-{n}") for n in range(50)]
    children[30] = leaf("veth30", "down")
    drawn_text = text(Branch(parts=((Run("br0"),),), children=tuple(children)), Screen())
    assert "veth30  down" in drawn_text
    assert "and 46 more like these: ns-3 to ns-49" in drawn_text


def test_eight_that_look_alike_are_few() -> None:
    few = Branch(parts=((Run("br0"),),), children=tuple(leaf(f"veth{n}") for n in range(8)))
    assert text(few, Screen()).count("veth") == 8


def services_text(topology: Topology, name: str) -> str:
    place = topology.named(name)
    assert place is not None
    branches = service_branches(Lookup(topology), place, Screen())
    return paint(draw_branches(branches, Screen(width=140)), Screen(width=140))


def with_listeners(*listeners: Listener) -> Topology:
    topology = cluster()
    host = replace(topology.inventory.namespaces[HOST], listeners=listeners)
    return replace(topology, inventory=replace(topology.inventory, namespaces={HOST: host}))


def test_a_docker_proxy_stands_at_its_port_and_not_among_the_sockets() -> None:
    assert services_text(cluster(), "host") == "sshd (60)  tcp 0.0.0.0:22, [::]:22\n"


def test_a_kafka_listener_with_the_port_that_leads_to_it() -> None:
    assert services_text(cluster(), "broker-1").splitlines() == [
        "INTERNAL PLAINTEXT  binds 0.0.0.0:29092, listens: java (101)  advertises broker-1:29092",
        "EXTERNAL PLAINTEXT  binds 0.0.0.0:9091, listens: java (101)  advertises localhost:9091",
        "`- published 0.0.0.0:9091 -> 172.18.0.2:9091  by DNAT and docker-proxy (201)",
        "127.0.0.11 embedded DNS: dockerd (50) in host",
    ]


def test_one_that_is_bound_elsewhere_than_it_says() -> None:
    topology = cluster(1)
    odd = (
        replace(topology.listeners[0], bound=("127.0.0.1",)),
        replace(topology.listeners[1], bind=("172.18.0.2", 9091)),
    )
    told = services_text(replace(topology, listeners=odd), "broker-1")
    assert "binds 0.0.0.0:29092, listens on 127.0.0.1: java (101)" in told
    assert "binds 172.18.0.2:9091, listens on ::: java (101)" in told


def test_owners_that_are_not_there() -> None:
    kernel = Listener(protocol=Protocol.UDP, family=4, address="0.0.0.0", port=4789, inode=0)
    unseen = Listener(protocol=Protocol.TCP, family=4, address="127.0.0.1", port=631, inode=77, ifindex=2)
    assert services_text(with_listeners(kernel, unseen), "host").splitlines() == [
        "a process that is not visible  tcp 127.0.0.1:631%eth0",
        "the kernel  udp 0.0.0.0:4789",
    ]


def test_a_controller_tells_clients_nothing() -> None:
    topology = cluster(1)
    mute = replace(topology.listeners[0], advertised=None, controller=True)
    assert "for controllers" in services_text(replace(topology, listeners=(mute,)), "broker-1")


def reach_text_text(topology: Topology, width: int = 140) -> str:
    return paint(draw_branches(reach_branches(Lookup(topology), Screen()), Screen(width=width)), Screen(width=width))


def changed(topology: Topology, listener: str, source: str, end: PathEnd) -> Topology:
    def one(reach: Reach) -> Reach:
        if (reach.listener, reach.source) != (listener, source):
            return reach
        return replace(reach, path=replace(reach.path, end=end, because="a rule says so"))

    return replace(topology, reach=tuple(one(reach) for reach in topology.reach))


def test_brokers_that_behave_alike_are_told_together() -> None:
    assert reach_text_text(cluster(5)).splitlines() == [
        "INTERNAL of broker-1 to broker-5",
        "`- broker-1:29092 to broker-5:29092  reached from itself, the other brokers"
        "  unresolved from host: the host knows no such name",
        "EXTERNAL of broker-1 to broker-5",
        "`- localhost:9091 to localhost:9095  reached from itself, host"
        "  refused from the other brokers: nothing listens on 127.0.0.1:9091 there",
    ]


def test_one_that_behaves_otherwise_is_told_apart() -> None:
    told = reach_text_text(changed(cluster(5), "broker-3/EXTERNAL", "host", PathEnd.DROPPED))
    assert "EXTERNAL of broker-1 to broker-5\n" in told
    assert "EXTERNAL of broker-3\n`- localhost:9093  reached from itself  " in told
    assert "dropped from host: a rule says so" in told


def test_addresses_that_are_not_advertised_come_last_and_say_so() -> None:
    topology = cluster(1)
    other = replace(topology.reach[0], destination="172.18.0.2", advertised=False)
    told = reach_text_text(replace(topology, reach=(other, *topology.reach)))
    assert told.index("broker-1:29092") < told.index("172.18.0.2:29092 (not advertised)")


def test_many_sources_are_counted() -> None:
    topology = cluster(1)
    many = tuple(replace(topology.reach[0], source=f"client-{n}") for n in range(200))
    assert "client-4, client-5 and 194 more: the host knows no such name" in reach_text_text(
        replace(topology, reach=many)
    )


def test_nothing_where_nobody_tried() -> None:
    assert reach_branches(Lookup(replace(cluster(), reach=())), Screen()) == []


def test_words() -> None:
    assert endpoint_text("::1", 9092) == "[::1]:9092"
    assert first_and_last(["a", "b"]) == "a, b"
    assert first_and_last(["a1", "a2", "a3"]) == "a1 to a3"


def test_the_shown_tree() -> None:
    (shown,) = re.findall(
        r"^```text\n(Who reaches .*?)^```$", (ROOT / "docs/guides/topology.md").read_text(), re.MULTILINE | re.DOTALL
    )
    drawn = tree_text(with_reach(five_brokers()), Screen(width=120))
    assert not differs(shown.splitlines(), drawn), drawn


CHANGES = (
    Difference(
        turn=ChangeKind.APPEARED,
        kind="link",
        name="host eth1",
        facts=(FactChange(name="mtu", before="", after="1500"),),
    ),
    Difference(
        turn=ChangeKind.CHANGED,
        kind="link",
        name="host eth0",
        facts=(FactChange(name="mtu", before="1500", after="1400"),),
    ),
    Difference(turn=ChangeKind.GONE, kind="published port", name="0.0.0.0:9092/tcp"),
)


def test_text() -> None:
    assert changes_text(CHANGES, Screen()).splitlines() == [
        "+ link host eth1  mtu 1500",
        "~ link host eth0  mtu 1500 -> 1400",
        "- published port 0.0.0.0:9092/tcp",
        "3 changes: 1 appeared, 1 gone, 1 changed",
    ]


def test_nothing() -> None:
    assert changes_text((), Screen()) == "nothing changed\n"
    assert json.loads(changes_json(())) == {"format": "netdiag-topology-diff", "version": 1, "changes": []}


def test_json() -> None:
    value = json.loads(changes_json(CHANGES))
    assert value["changes"][1] == {
        "turn": "changed",
        "kind": "link",
        "name": "host eth0",
        "facts": [{"name": "mtu", "before": "1500", "after": "1400"}],
    }
    assert value["changes"][0]["facts"][0]["before"] is None


def test_many_of_a_kind_are_counted() -> None:
    many = [Difference(turn=ChangeKind.GONE, kind="route", name=f"host 10.0.{n}.0/24") for n in range(100)]
    assert "  and 80 more of kind route" in changes_text(many, Screen()).splitlines()
    assert changes_text(many, Screen(), full=True).count("- route") == 100
    assert change_summary(many) == "100 changes: 100 gone"


def test_what_is_in_a_namespace_that_came_or_went_goes_with_it() -> None:
    def changes(turn: ChangeKind) -> list[Difference]:
        names = (
            ("namespace", "pid 7 (java)"),
            ("link", "pid 7 (java) lo"),
            ("link", "pid 70 lo"),
            ("network", "pid 7 (java) x"),
        )
        return [Difference(turn=turn, kind=kind, name=name) for kind, name in names]

    told = changes_text([*changes(ChangeKind.APPEARED), *changes(ChangeKind.GONE)], Screen()).splitlines()
    assert told == [
        "+ namespace pid 7 (java)  with 1 thing in it",
        "- namespace pid 7 (java)  with 1 thing in it",
        "+ link pid 70 lo",
        "- link pid 70 lo",
        "+ network pid 7 (java) x",
        "- network pid 7 (java) x",
        "8 changes: 4 appeared, 4 gone",
    ]
    assert "+ link pid 7 (java) lo" in changes_text(changes(ChangeKind.APPEARED), Screen(), full=True)


def test_hostile_names_stay_on_their_lines() -> None:
    evil = Difference(
        turn=ChangeKind.CHANGED, kind=EVIL, name=EVIL, facts=(FactChange(name=EVIL, before=EVIL, after="x" * 9999),)
    )
    text = changes_text((evil,), Screen(width=100))
    assert not {character for character in text if not character.isprintable()} - {"\n"}
    assert len(text) < 2000
    assert json.loads(changes_json((evil,)))["changes"][0]["name"] == EVIL
