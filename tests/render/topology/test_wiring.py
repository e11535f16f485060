"""Networks, bridges, parents and cables become bars, and everything hangs from the right one."""

from dataclasses import replace

from netdiag.linux.rtnetlink import Link
from netdiag.render.topology.scene import Bar, BarKind, bars, place_key
from netdiag.topology.graph import Cable, CableKind, Topology
from netdiag.topology.inventory import LinkId
from tests.topology.five_brokers import crowd, five_brokers, machine
from tests.topology.namespaces import ROOT, UP


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
