"""Finding things in a topology, their identifiers, devices in words, how much was read."""

import re
from dataclasses import replace

import pytest

from netdiag.linux.rtnetlink import IFF_UP, BridgeVlan, Link
from netdiag.linux.ruleset import Ruleset
from netdiag.render.html import CELL, SIZE, natural_key, shortened, text_width, visible
from netdiag.render.topology.lookup import (
    Lookup,
    bridge_parts,
    counterpart_parts,
    coverage_line,
    coverage_value,
    detail_parts,
    device_id,
    kind_text,
    pids_text,
    stable_id,
    state_parts,
    traffic_parts,
    vlan_text,
)
from netdiag.topology.graph import Cable, CableKind, LinkTraffic, Place, PlaceKind
from netdiag.topology.inventory import LinkId, Unread
from tests.each import each
from tests.render.topology.hostile import EVIL
from tests.render.topology.namespaces import HOST, UP, broker_id, broker_netns, link_of
from tests.render.topology.topologies import cluster

LOOKUP = Lookup(cluster())
PORT = link_of(HOST, 11)
INSIDE = link_of(broker_netns(1), 2)
BRIDGE = link_of(HOST, 3)


def test_both_ends_of_a_pair_lead_to_each_other() -> None:
    assert (LOOKUP.peer(PORT), LOOKUP.peer(INSIDE)) == (INSIDE, PORT)


def test_ports_and_their_master() -> None:
    assert LOOKUP.ports(BRIDGE) == [PORT, link_of(HOST, 12)]
    assert LOOKUP.master(PORT) == BRIDGE
    assert LOOKUP.ports(PORT) == []


def test_a_parent() -> None:
    topology = cluster()
    cable = Cable(kind=CableKind.PARENT, a=link_of(HOST, 12), b=link_of(HOST, 2))
    assert Lookup(replace(topology, cables=(cable,))).parent(cable.a) == cable.b


def test_addresses_of_the_link_itself_only_where_there_are_no_others() -> None:
    assert LOOKUP.addresses(BRIDGE) == ["172.18.0.1/16"]
    assert LOOKUP.addresses(link_of(HOST, 99)) == []


def test_names() -> None:
    assert LOOKUP.name(broker_netns(2)) == "broker-2"
    assert LOOKUP.name(7) == "net:[7]"
    assert LOOKUP.ifname(PORT) == "veth1a2b3c4"
    assert LOOKUP.ifname(LinkId(netns=7, ifindex=9)) == "#9"
    assert LOOKUP.device_name(HOST, 2) == "eth0"
    assert LOOKUP.container_name(broker_id(1)) == "broker-1"
    assert LOOKUP.container_name("abcdef0123456789") == "abcdef012345"
    assert (LOOKUP.comm(60), LOOKUP.comm(61)) == ("sshd", "")


def test_what_belongs_to_a_container() -> None:
    assert [listener.listener for listener in LOOKUP.kafka([broker_id(1)])] == ["INTERNAL", "EXTERNAL"]
    assert [exit_.key for exit_ in LOOKUP.exits([broker_id(2)])] == ["0.0.0.0:9092/tcp"]
    view = LOOKUP.network(BRIDGE)
    assert view is not None
    assert view.network.name == "demo_kafka"


def test_the_host_comes_first_then_containers_then_the_rest() -> None:
    topology = cluster()
    others = (
        Place(netns=9, kind=PlaceKind.UNOWNED, name="net:[9]", label="net:[9]"),
        Place(netns=8, kind=PlaceKind.NAMED, name="blue", label="blue"),
    )
    lookup = Lookup(replace(topology, places=(*others, *reversed(topology.places))))
    assert [place.name for place in lookup.in_order()] == ["host", "broker-1", "broker-2", "blue", "net:[9]"]


def test_the_same_names_give_the_same_identifier_and_others_another() -> None:
    assert stable_id("a", "b") == stable_id("a", "b") == "n59b271ae1bbc"
    assert len({stable_id("a", "b"), stable_id("ab"), stable_id("a", "b", ""), stable_id("b", "a")}) == 4


def test_any_text_gives_letters_and_digits() -> None:
    assert re.fullmatch(r"n[0-9a-f]{12}", stable_id(EVIL, "\udcff", ""))


def test_a_device_is_its_name_at_its_place() -> None:
    lookup = Lookup(cluster())
    assert device_id(lookup, link_of(HOST, 2)) == stable_id("device", "host", "eth0")


DEVICES_PORT = Link(ifindex=2, ifname="p", flags=UP, mtu=1500, port_kind="bridge", port={"state": "forwarding"})


def states(link: Link) -> list[str]:
    return [text for text, _ in state_parts(link)]


def test_nothing_is_said_of_an_ordinary_port() -> None:
    assert states(DEVICES_PORT) == []


@pytest.mark.parametrize(
    ("link", "told"),
    [
        (replace(DEVICES_PORT, flags=0), ["down"]),
        (replace(DEVICES_PORT, flags=IFF_UP), ["no carrier"]),
        (replace(DEVICES_PORT, mtu=1400), ["mtu 1400"]),
        (replace(DEVICES_PORT, port={"state": "blocking"}), ["blocking"]),
        (
            replace(DEVICES_PORT, port={"state": "forwarding", "hairpin": True, "isolated": True}),
            ["hairpin", "isolated"],
        ),
    ],
)
def test_what_is_not_ordinary_is_said(link: Link, told: list[str]) -> None:
    assert states(link) == told


def test_bridges_that_do_more() -> None:
    link = Link(ifindex=1, ifname="b", kind="bridge", details={"stp_state": 1, "vlan_filtering": 1})
    assert [text for text, _ in bridge_parts(link)] == ["STP on", "filters VLANs"]


def test_details_that_are_of_another_type_are_passed_over() -> None:
    odd = Link(ifindex=1, ifname="v", kind="vxlan", details={"id": 42, "remote": ["?"], "port": None, "local": True})
    assert [text for text, _ in detail_parts(odd)] == ["id 42"]


def test_kinds() -> None:
    assert kind_text(Link(ifindex=1, ifname="t", kind="tun")) == "tun"
    assert kind_text(Link(ifindex=1, ifname="t", kind="tun", details={"type": "tap"})) == "tap"
    assert kind_text(Link(ifindex=1, ifname="e")) == "physical"


def test_vlans_of_a_port() -> None:
    vlans = (
        BridgeVlan(ifindex=2, vlan=1, vlan_end=1, flags=("PVID", "Egress Untagged")),
        BridgeVlan(ifindex=2, vlan=10, vlan_end=20),
        BridgeVlan(ifindex=3, vlan=30, vlan_end=30),
    )
    assert vlan_text(vlans, link_of(HOST, 2)) == "vlan 1 untagged, 10-20"
    assert vlan_text(vlans, link_of(HOST, 4)) == ""


def test_what_a_device_stands_on_and_who_holds_it() -> None:
    topology = cluster()
    tap = link_of(HOST, 77)
    lookup = Lookup(
        replace(
            topology,
            cables=(
                Cable(kind=CableKind.PARENT, a=link_of(HOST, 12), b=link_of(HOST, 2)),
                Cable(kind=CableKind.PARENT, a=link_of(4026532001, 2), b=link_of(HOST, 2)),
            ),
            inventory=replace(topology.inventory, tun_owners={tap: (60,)}),
        )
    )
    vlan = Link(ifindex=12, ifname="eth0.10", kind="vlan")
    held = Link(ifindex=77, ifname="tap0", kind="tun")

    def told(netns: int, link: Link) -> list[str]:
        return [text for text, _ in counterpart_parts(lookup, link_of(netns, link.ifindex), link)]

    assert told(HOST, vlan) == ["on eth0"]
    assert told(4026532001, Link(ifindex=2, ifname="mac0", kind="macvlan")) == ["on eth0 in host"]
    assert told(HOST, held) == ["held by sshd (60)"]
    assert told(HOST, replace(held, ifindex=78)) == ["held by no visible process"]


def test_processes_by_program() -> None:
    lookup = Lookup(cluster(5))
    assert pids_text(lookup, (101, 102, 103, 104, 60, 9999)) == (
        "java (101, 102, 103 and 1 more), sshd (60), process (9999)"
    )


def test_traffic_that_was_captured() -> None:
    link = link_of(HOST, 11)
    lookup = Lookup(replace(cluster(), traffic={link: LinkTraffic(link=link, connections=3, failed=1, requests=1)}))
    told = [text for text, _ in traffic_parts(lookup, link)]
    assert told == ["Kafka: 1 request on 3 connections", "1 of them failed"]
    assert list(traffic_parts(lookup, link_of(HOST, 12))) == []


def test_the_line_tells_what_was_read_and_what_was_not() -> None:
    assert coverage_line(cluster().inventory) == (
        "3 namespaces, 9 links, 10 listeners, 2 packet filter rules, 1 process unreadable (no right to look into it)"
    )


def test_reasons_are_told_once_and_many_are_counted() -> None:
    unread = tuple(Unread(what=f"process {pid}", because=f"reason {pid % 5}") for pid in range(10))
    line = coverage_line(replace(cluster().inventory, unread=unread))
    assert line.endswith("10 processes unreadable (reason 0; reason 1; reason 2; and 2 other reasons)")


def test_namespaces_and_rules_that_could_not_be_read_are_told() -> None:
    inventory = cluster().inventory
    host = replace(inventory.namespaces[HOST], ruleset=Ruleset(unread=("no right to read nf_tables",)))
    closed = replace(inventory.namespaces[broker_netns(1)], entered=False, unread=(Unread(what="x", because="y"),))
    inventory = replace(inventory, namespaces={HOST: host, 1: closed}, unread=(), complete=False)
    line = coverage_line(inventory)
    assert line.startswith("partial, because privileges are missing: 2 namespaces, ")
    assert line.endswith(
        ", 1 namespace not inspected, 1 other fact unreadable (y), "
        "1 packet filter unreadable (no right to read nf_tables)"
    )
    value = coverage_value(inventory)
    assert (value["closed"], value["complete"], value["line"]) == (1, False, line)
    assert value["unread_filters"] == [{"because": "no right to read nf_tables", "count": 1}]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("broker-1", "broker-1"),
        ("a\x1b[31mb", "a\\x1b[31mb"),
        ("a\u202eb\u200f", "a\\u202eb\\u200f"),
        ("a\nb\0", "a\\nb\\x00"),
        ("\ud800", "\\ud800"),
        ("\ufffe\uffff\ufdd0", "\\ufffe\\uffff\\ufdd0"),
        ("בית 家", "בית 家"),
    ],
)
def test_nothing_that_hides_or_reorders_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_very_long_text_is_cut() -> None:
    assert len(visible("x" * 100_000)) < 2100


@each("text", ["short", "a-name-that-does-not-fit-1", "x" * 300, "家" * 40, "<b>&\"'" * 30, "", "a\x00b" * 9])
@each("room", [0.0, 5.0, 8.0, 40.0, 100.0, 1000.0])
def test_a_label_fits_into_its_room(text: str, room: float) -> None:
    assert text_width(shortened(text, room), SIZE) <= room + 0.01


def test_a_label_keeps_its_beginning_and_its_end() -> None:
    assert shortened("team7-application-server-12", 16 * CELL * SIZE) == "team7-appl…er-12"


def test_numbers_in_names_count() -> None:
    names = ["broker-10", "broker-2", "broker-1", "a", "10", "9", "broker-02"]
    assert sorted(names, key=natural_key) == ["9", "10", "a", "broker-1", "broker-02", "broker-2", "broker-10"]
