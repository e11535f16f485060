"""What is in a picture: boxes, bars and what is attached to them, pills, faults."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations
from random import Random

import pytest

from netdiag.engine.container import Status
from netdiag.findings import ContainerLocation, Finding, Location, Severity, TopologyLocation
from netdiag.linux.rtnetlink import Link
from netdiag.render.topology.broker_access import BrokerAccess, Mark
from netdiag.render.topology.layout import LARGE, Order, Picture, Rect, layout, order
from netdiag.render.topology.scene import Attachment, Bar, BarKind, Box, Scene, bars, endpoint, place_key, scene
from netdiag.topology.graph import Cable, CableKind, Topology, Unmatched
from netdiag.topology.inventory import LinkId
from tests.render.topology.traces import with_traces
from tests.topology.five_brokers import SECRET, crowd, five_brokers, hostile, machine
from tests.topology.namespaces import ROOT, UP


def drawn(topology: Topology) -> Scene:
    """The scene of a topology."""
    return scene(BrokerAccess(topology=topology))


def test_a_broker_has_its_listeners_those_for_clients_first() -> None:
    box = next(box for box in drawn(with_traces(five_brokers())).boxes if box.key == "place:shop-broker-1-1")
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
        (replace(port, in_force=False), "configured, but not published"),
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


def bars_of(topology: Topology) -> dict[str, Bar]:
    """The bars by key, containers under the keys of their places."""
    owners = {container: place_key(place.name) for place in topology.places for container in place.containers}
    return {bar.key: bar for bar in bars(topology, owners)}


def test_a_network_with_its_members_and_their_cables() -> None:
    bar = bars_of(five_brokers())["network:shop_kafka"]
    assert bar.kind is BarKind.NETWORK
    assert bar.facts == ("172.18.0.0/16", "br-020202020202", "gateway 172.18.0.1")
    assert [one.place for one in bar.attachments][:5] == [f"place:shop-broker-{number}-1" for number in range(1, 6)]
    assert bar.attachments[0].address == "172.18.0.2"
    assert bar.attachments[0].cable.startswith("eth0 — veth")
    assert len(bar.attachments) == 7, "no veth is a device of its own"


def test_a_bridge_that_no_network_accounts_for() -> None:
    made = machine()
    bridge = made.host.free_index()
    made.host.add(Link(ifindex=bridge, ifname="lab0", kind="bridge", flags=UP))
    made.host.add(Link(ifindex=bridge + 1, ifname="tap3", kind="tun", flags=UP, master=bridge, port_kind="bridge"))
    bar = bars_of(made.topology())["bridge:host/lab0"]
    assert (bar.kind, bar.title, bar.ports) == (BarKind.BRIDGE, "lab0", ("tap3 (tun)",))


def test_a_device_that_others_stand_on() -> None:
    made = machine()
    space = made.space(names=("blue",))
    space.add(Link(ifindex=7, ifname="mv0", kind="macvlan", flags=UP, link=2, link_netnsid=0))
    topology = made.topology()
    child, parent = LinkId(netns=space.inode, ifindex=7), LinkId(netns=ROOT, ifindex=2)
    cable = Cable(kind=CableKind.PARENT, a=child, b=parent)
    found = bars_of(replace(topology, cables=(*(c for c in topology.cables if c.a != child), cable)))
    bar = found["parent:host/eth0"]
    assert [(one.place, one.cable) for one in bar.attachments] == [("place:blue", "mv0 (macvlan) on eth0")]


def test_a_pair_without_a_bridge_is_one_cable() -> None:
    made = machine()
    red, blue = made.space(names=("red",)), made.space(names=("blue",))
    red.add(Link(ifindex=5, ifname="to-blue", kind="veth", flags=UP))
    blue.add(Link(ifindex=5, ifname="to-red", kind="veth", flags=UP))
    a, b = LinkId(netns=red.inode, ifindex=5), LinkId(netns=blue.inode, ifindex=5)
    topology = made.topology()
    found = bars_of(replace(topology, cables=(*topology.cables, Cable(kind=CableKind.VETH, a=a, b=b))))
    bar = found["cable:red:to-blue — blue:to-red"]
    assert bar.kind is BarKind.WIRE
    assert [one.place for one in bar.attachments] == ["place:red", "place:blue"]


def test_two_networks_of_one_name_are_two_bars() -> None:
    topology = five_brokers()
    found = bars_of(replace(topology, networks=(*topology.networks, topology.networks[-1])))
    assert {key for key in found if key.startswith("network:shop_front")} == {
        "network:shop_front",
        "network:shop_front #2",
    }


def test_what_does_not_pass_anything_is_broken() -> None:
    topology = five_brokers()
    place = next(place for place in topology.places if place.label == "ui")
    facts = topology.inventory.namespaces[place.netns]
    dead = tuple(replace(link, flags=0) if link.kind == "veth" else link for link in facts.links)
    namespaces = {**topology.inventory.namespaces, place.netns: replace(facts, links=dead)}
    bar = bars_of(replace(topology, inventory=replace(topology.inventory, namespaces=namespaces)))["network:shop_kafka"]
    assert {one.place: one.broken for one in bar.attachments if one.broken} == {"place:shop-ui-1": "eth0 is down"}


def test_everybody_in_a_crowd_hangs_somewhere() -> None:
    found = bars_of(crowd(60))
    assert sum(len(bar.attachments) for bar in found.values()) == 60


TOPOLOGY = five_brokers()
BROKER = "shop-broker-1-1"
BRIDGE = next(view.bridge for view in TOPOLOGY.networks if view.network.name == "shop_kafka")
PORT = next(port.key for port in TOPOLOGY.published if port.published == 9091)
assert BRIDGE is not None


@pytest.mark.parametrize(
    ("location", "key"),
    [
        (TopologyLocation(place=BROKER), f"place:{BROKER}"),
        (TopologyLocation(place=BROKER, device="eth0"), f"place:{BROKER}"),
        (TopologyLocation(place=BROKER, part="EXTERNAL"), "listener:broker-1/EXTERNAL"),
        (TopologyLocation(place="host", part="broker-1/EXTERNAL"), "listener:broker-1/EXTERNAL"),
        (TopologyLocation(place="host", part=PORT), f"port:{PORT}"),
        (TopologyLocation(place="host", device="br-020202020202"), "network:shop_kafka"),
        (TopologyLocation(place="host", device="eth0"), "device:eth0"),
        (TopologyLocation(place="nowhere"), ""),
        (ContainerLocation(container=BROKER), f"place:{BROKER}"),
    ],
)
def test_where_a_finding_is_said(location: Location, key: str) -> None:
    finding = Finding(rule="some-rule", severity=Severity.ERROR, message="it is broken", location=location)
    drawn = scene(BrokerAccess(topology=TOPOLOGY), [finding])
    said = {**drawn.faults, "": drawn.stray}
    assert [name for name, faults in said.items() if faults] == [key]
    assert said[key][0].rule == "some-rule"


@pytest.mark.parametrize(
    ("link", "key"),
    [(BRIDGE, "network:shop_kafka"), (LinkId(netns=ROOT, ifindex=2), "device:eth0"), (None, "")],
)
def test_where_a_warning_is_said(link: LinkId | None, key: str) -> None:
    loose = Unmatched(subject="something", because="has no counterpart", link=link)
    drawn = scene(BrokerAccess(topology=replace(TOPOLOGY, unmatched=(loose,))))
    said = {**drawn.faults, "": drawn.stray}
    assert said[key][0].text == "something: has no counterpart"


def test_secrets_are_hidden_and_the_worst_comes_first() -> None:
    location = TopologyLocation(place=BROKER)
    findings = [
        Finding(rule="a", severity=Severity.NOTE, message="small", location=location),
        Finding(rule="b", severity=Severity.ERROR, message=f"password={SECRET}", location=location),
    ]
    (first, second) = scene(BrokerAccess(topology=TOPOLOGY), findings).faults[f"place:{BROKER}"]
    assert (first.rule, second.rule) == ("b", "a")
    assert SECRET not in first.text


def picture(topology: Topology) -> Picture:
    """The picture of a topology."""
    return layout(scene(BrokerAccess(topology=topology)))


def places(drawn: Picture) -> dict[str, Rect]:
    """Where each box is."""
    return {placed.box.key.partition(":")[2]: placed.rect for placed in drawn.boxes}


def rects(drawn: Picture) -> Iterable[tuple[str, Rect]]:
    """Everything that has an area of its own."""
    yield from ((placed.box.key, placed.rect) for placed in drawn.boxes)
    yield from ((placed.bar.key, placed.rect) for placed in drawn.bars)
    yield from ((pill.key, rect) for pill, rect in drawn.pills)
    yield from ((chip.key, rect) for chip, rect in drawn.chips)


def apart(a: Rect, b: Rect) -> bool:
    """Whether two rectangles have nothing in common."""
    return a.right <= b.x or b.right <= a.x or a.bottom <= b.y or b.bottom <= a.y


@pytest.mark.parametrize("topology", [five_brokers(), hostile(), crowd(60)], ids=["five", "hostile", "crowd"])
def test_nothing_lies_upon_anything_else(topology: Topology) -> None:
    drawn = picture(topology)
    everything = list(rects(drawn))
    assert [(a, b) for (a, ra), (b, rb) in combinations(everything, 2) if not apart(ra, rb)] == []
    inside = Rect(x=0, y=0, w=drawn.width, h=drawn.height)
    assert all(not apart(rect, inside) and rect.right <= drawn.width for _, rect in everything)
    assert len(drawn.boxes) == len(drawn.scene.boxes)


def test_equal_topologies_give_equal_pictures() -> None:
    assert picture(crowd(120)) == picture(crowd(120))


def test_a_verdict_a_warning_and_a_stop_move_nothing() -> None:
    before = places(picture(five_brokers()))
    assert places(picture(with_traces(five_brokers()))) == before
    stopped = machine()
    container = next(c for c in stopped.containers.values() if c.name == "shop-ui-1")
    stopped.containers[container.id] = replace(
        container, state=replace(container.state, status=Status.PAUSED), image="another"
    )
    assert places(picture(stopped.topology())) == before


def test_one_container_more_moves_none_that_stands_before_it() -> None:
    before = places(picture(five_brokers()))
    more = machine()
    more.container("shop-worker-1", service="worker", networks=("shop_kafka",))
    after = places(picture(more.topology()))
    moved = {name for name, rect in before.items() if after[name] != rect}
    assert moved == set()
    assert set(after) - set(before) == {"shop-worker-1"}


def test_a_second_shelf_does_not_move_the_first() -> None:
    made = machine()
    gone = next(key for key, one in made.containers.items() if one.name == "shop-client-1")
    del made.containers[gone]
    before, after = picture(made.topology()), picture(five_brokers())
    assert len({placed.rect.y for placed in after.boxes if placed.box.rows}) == 1
    brokers = {placed.box.key: placed.rect for placed in before.boxes if placed.box.rows}
    assert brokers == {placed.box.key: placed.rect for placed in after.boxes if placed.box.rows}


def test_one_network_more_in_a_crowd_moves_no_column() -> None:
    before, after = places(picture(crowd(120))), places(picture(crowd(140)))
    assert {name for name, rect in before.items() if after[name] != rect} == set()


def test_the_bar_of_a_network_on_two_shelves_is_tied_together() -> None:
    drawn = picture(five_brokers())
    parts = [placed for placed in drawn.bars if placed.bar.key == "network:shop_kafka"]
    assert [part.continues for part in parts] == [False, True]
    assert [stroke.kind for stroke in drawn.strokes if stroke.keys == ("network:shop_kafka",)] == ["spine"] * 3


def test_a_published_port_is_a_line_for_the_rule_and_one_for_the_proxy() -> None:
    drawn = picture(five_brokers())
    kinds = [stroke.kind for stroke in drawn.strokes if stroke.keys[0].startswith("port:0.0.0.0:9091")]
    assert kinds == ["dnat", "proxy"]
    topology = five_brokers()
    dead = replace(topology.published[0], dnat=(), proxies=())
    assert "dead" in [stroke.kind for stroke in picture(replace(topology, published=(dead,))).strokes]


def chain(networks: int, members: int) -> Scene:
    """Networks in a long chain, each sharing one box with the next, their names telling nothing of it."""
    names = [f"net-{number}" for number in range(networks)]
    Random(5).shuffle(names)
    boxes = [Box(key=f"place:{n}-{m}", title=f"{n}-{m}", name=f"{n}-{m}") for n in names for m in range(members)]
    bars = []
    for index, name in enumerate(names):
        own = [Attachment(place=f"place:{name}-{m}") for m in range(members)]
        before = [Attachment(place=f"place:{names[index - 1]}-0")] if index else []
        bars.append(Bar(key=f"network:{name}", kind=BarKind.NETWORK, title=name, attachments=(*own, *before)))
    return Scene(boxes=tuple(boxes), bars=tuple(bars), pills=(), chips=(), host="host")


def span(found: Order) -> int:
    """By how many places the networks of one box lie apart, summed over all boxes."""
    bars = [key for group in found.groups for key in group.bars]
    rank = {key: index for index, key in enumerate(bars)}
    return sum(rank[keys[-1]] - rank[keys[0]] for keys in found.bars_of.values())


def names_of(boxes: Sequence[Box]) -> list[str]:
    """The titles of boxes."""
    return [box.title for box in boxes]


def test_brokers_come_first_and_networks_that_share_nobody_are_groups_of_their_own() -> None:
    found = order(scene(BrokerAccess(topology=five_brokers())))
    assert names_of(found.groups[0].boxes)[:5] == [f"broker-{number}" for number in range(1, 6)]
    assert found.groups[0].bars == ("network:shop_kafka", "network:shop_front")
    assert found.bars_of["place:shop-client-1"] == ("network:shop_kafka", "network:shop_front")
    assert names_of(found.groups[-1].boxes) == ["lan"], "who hangs from nothing comes last"
    assert not found.note


def test_in_a_crowd_networks_that_share_members_are_neighbours() -> None:
    crowd = chain(30, 5)
    assert len(crowd.boxes) > LARGE
    found = order(crowd)
    assert span(found) == 29, "each of them is next to the one it shares a box with"
    assert found == order(replace(crowd, bars=tuple(reversed(crowd.bars))))


def test_the_order_of_a_crowd_does_not_depend_on_how_many_hang_from_a_network() -> None:
    before, after = order(chain(30, 5)), order(chain(30, 6))
    assert [group.bars for group in before.groups] == [group.bars for group in after.groups]


def test_without_the_library_names_decide_and_the_picture_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    found = order(chain(30, 5))
    assert found.groups[0].bars == tuple(f"network:net-{number}" for number in range(30))
    assert "extra picture" in found.note
    assert not order(chain(3, 2)).note
