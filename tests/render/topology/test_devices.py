"""Devices in words."""

from dataclasses import replace

import pytest

from netdiag.linux.rtnetlink import IFF_UP, BridgeVlan, Link
from netdiag.render.topology.lookup import (
    Lookup,
    bridge_parts,
    counterpart_parts,
    detail_parts,
    kind_text,
    pids_text,
    state_parts,
    traffic_parts,
    vlan_text,
)
from netdiag.topology.graph import Cable, CableKind, LinkTraffic
from tests.render.topology.namespaces import HOST, UP, link_of
from tests.render.topology.topologies import cluster

PORT = Link(ifindex=2, ifname="p", flags=UP, mtu=1500, port_kind="bridge", port={"state": "forwarding"})


def states(link: Link) -> list[str]:
    return [text for text, _ in state_parts(link)]


def test_nothing_is_said_of_an_ordinary_port() -> None:
    assert states(PORT) == []


@pytest.mark.parametrize(
    ("link", "told"),
    [
        (replace(PORT, flags=0), ["down"]),
        (replace(PORT, flags=IFF_UP), ["no carrier"]),
        (replace(PORT, mtu=1400), ["mtu 1400"]),
        (replace(PORT, port={"state": "blocking"}), ["blocking"]),
        (replace(PORT, port={"state": "forwarding", "hairpin": True, "isolated": True}), ["hairpin", "isolated"]),
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
