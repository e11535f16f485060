"""What a port lets in and out."""

import pytest

from netdiag.linux.link import Detail, Link
from netdiag.linux.neighbour import BridgeVlan, FdbEntry
from netdiag.topology.bridge_ports import Frame, entry_refused, exit_refused, floods, learnt, membership, pvid
from netdiag.topology.terrain import Place
from tests.topology.spaces import UP
from tests.topology.wires import Wires

FRAME = Frame(lladdr="02:00:00:00:00:09", source="02:00:00:00:00:08", address="10.0.0.9")


def port(index: int, **facts: Detail) -> Link:
    return Link(ifindex=index, ifname=f"p{index}", flags=UP, master=9, port={"state": "forwarding", **facts})


def bridge(**details: Detail) -> Link:
    return Link(ifindex=9, ifname="br0", kind="bridge", flags=UP, details=details)


def place(*vlans: BridgeVlan, fdb: tuple[FdbEntry, ...] = ()) -> Place:
    from dataclasses import replace

    made = Wires()
    return Place(replace(made.space("a").facts(), vlans=vlans, fdb=fdb))


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ({}, {}, ""),
        ({}, {"state": "blocking"}, "is blocking, not forwarding"),
        ({"isolated": True}, {}, ""),
        ({"isolated": True}, {"isolated": True}, "isolated from each other"),
    ],
)
def test_leaving(one: dict[str, Detail], other: dict[str, Detail], reason: str) -> None:
    said = exit_refused(place(), bridge(), port(1, **one), port(2, **other), FRAME)
    assert reason in said
    assert bool(said) == bool(reason)


def test_back_where_it_came_from_needs_a_hairpin() -> None:
    assert "hairpin is off" in exit_refused(place(), bridge(), port(1), port(1), FRAME)
    assert exit_refused(place(), bridge(), port(1, hairpin=True), port(1, hairpin=True), FRAME) == ""


def test_vlans_keep_apart() -> None:
    here = place(
        BridgeVlan(ifindex=1, vlan=10, vlan_end=10, flags=("PVID", "Egress Untagged")),
        BridgeVlan(ifindex=2, vlan=5, vlan_end=20),
        BridgeVlan(ifindex=3, vlan=30, vlan_end=30, flags=("PVID",)),
    )
    filtering = bridge(vlan_filtering=1)
    tagged = Frame(lladdr="", source="", address="", vlan=10)
    assert (pvid(here, 1), pvid(here, 2)) == (10, None)
    assert membership(here, 2, 10) == ()
    assert entry_refused(here, filtering, port(1), FRAME) == ""
    assert "without a VLAN tag" in entry_refused(here, filtering, port(2), FRAME)
    assert entry_refused(here, filtering, port(2), tagged) == ""
    assert "not in VLAN 10" in entry_refused(here, filtering, port(3), tagged)
    assert "not in VLAN 10" in exit_refused(here, filtering, port(1), port(3), tagged)
    assert exit_refused(here, bridge(), port(1), port(3), tagged) == ""


def test_coming_in_by_a_port_that_does_not_forward_or_is_locked() -> None:
    assert "learning, not forwarding" in entry_refused(place(), bridge(), port(1, state="learning"), FRAME)
    assert "locked" in entry_refused(place(), bridge(), port(1, locked=True), FRAME)
    known = place(fdb=(FdbEntry(ifindex=1, lladdr=FRAME.source, master=9),))
    assert entry_refused(known, bridge(), port(1, locked=True), FRAME) == ""


def test_behind_which_port() -> None:
    entries = (
        FdbEntry(ifindex=2, lladdr=FRAME.lladdr, master=9, vlan=7),
        FdbEntry(ifindex=3, lladdr="02:00:00:00:00:0a", master=9, flags=("self",)),
    )
    here = place(fdb=entries)
    assert learnt(here, bridge(), FRAME) == 2
    assert learnt(here, bridge(vlan_filtering=1), FRAME) is None
    assert learnt(here, bridge(), Frame(lladdr="02:00:00:00:00:0a", source="", address="")) is None
    assert floods(port(1), FRAME)
    assert not floods(port(1, flood=False), FRAME)
    assert not floods(port(1, bcast_flood=False), Frame(lladdr="", source="", address=""))
