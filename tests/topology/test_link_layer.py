"""What a port lets in and out."""

import pytest

from netdiag.linux.rtnetlink import BridgeVlan, Detail, FdbEntry, KernelSettings, Link, Neighbour
from netdiag.topology.graph import PathEnd
from netdiag.topology.inventory import IndexedInventory, IndexedNamespace, LinkId
from netdiag.topology.path.link_layer import (
    Frame,
    FrameOutcome,
    ResolvedNeighbour,
    UnresolvedNeighbour,
    bridge_frame,
    egress_refusal,
    floods,
    ingress_refusal,
    learned_port,
    pvid,
    resolve_neighbour,
    send_frame,
    vlan_flags,
)
from tests.topology.namespaces import UP, Wires, two_on_a_bridge

FRAME = Frame(lladdr="02:00:00:00:00:09", source="02:00:00:00:00:08", address="10.0.0.9")


def port(index: int, **facts: Detail) -> Link:
    return Link(ifindex=index, ifname=f"p{index}", flags=UP, master=9, port={"state": "forwarding", **facts})


def bridge(**details: Detail) -> Link:
    return Link(ifindex=9, ifname="br0", kind="bridge", flags=UP, details=details)


def namespace(*vlans: BridgeVlan, fdb: tuple[FdbEntry, ...] = ()) -> IndexedNamespace:
    from dataclasses import replace

    made = Wires()
    return IndexedNamespace(replace(made.space("a").facts(), vlans=vlans, fdb=fdb))


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ({}, {}, ""),
        ({}, {"state": "blocking"}, "is blocking, not forwarding"),
        ({"isolated": True}, {}, ""),
        ({"isolated": True}, {"isolated": True}, "isolated from one another"),
    ],
)
def test_leaving(one: dict[str, Detail], other: dict[str, Detail], reason: str) -> None:
    said = egress_refusal(namespace(), bridge(), port(1, **one), port(2, **other), FRAME)
    assert reason in said
    assert bool(said) == bool(reason)


def test_back_where_it_came_from_needs_a_hairpin() -> None:
    assert "hairpin is off" in egress_refusal(namespace(), bridge(), port(1), port(1), FRAME)
    assert egress_refusal(namespace(), bridge(), port(1, hairpin=True), port(1, hairpin=True), FRAME) == ""


def test_vlans_keep_apart() -> None:
    here = namespace(
        BridgeVlan(ifindex=1, vlan=10, vlan_end=10, flags=("PVID", "Egress Untagged")),
        BridgeVlan(ifindex=2, vlan=5, vlan_end=20),
        BridgeVlan(ifindex=3, vlan=30, vlan_end=30, flags=("PVID",)),
    )
    filtering = bridge(vlan_filtering=1)
    tagged = Frame(lladdr="", source="", address="", vlan=10)
    assert (pvid(here, 1), pvid(here, 2)) == (10, None)
    assert vlan_flags(here, 2, 10) == ()
    assert ingress_refusal(here, filtering, port(1), FRAME) == ""
    assert "without a VLAN tag" in ingress_refusal(here, filtering, port(2), FRAME)
    assert ingress_refusal(here, filtering, port(2), tagged) == ""
    assert "not in VLAN 10" in ingress_refusal(here, filtering, port(3), tagged)
    assert "not in VLAN 10" in egress_refusal(here, filtering, port(1), port(3), tagged)
    assert egress_refusal(here, bridge(), port(1), port(3), tagged) == ""


def test_coming_in_by_a_port_that_does_not_forward_or_is_locked() -> None:
    assert "learning, not forwarding" in ingress_refusal(namespace(), bridge(), port(1, state="learning"), FRAME)
    assert "locked" in ingress_refusal(namespace(), bridge(), port(1, locked=True), FRAME)
    known = namespace(fdb=(FdbEntry(ifindex=1, lladdr=FRAME.source, master=9),))
    assert ingress_refusal(known, bridge(), port(1, locked=True), FRAME) == ""


def test_behind_which_port() -> None:
    entries = (
        FdbEntry(ifindex=2, lladdr=FRAME.lladdr, master=9, vlan=7),
        FdbEntry(ifindex=3, lladdr="02:00:00:00:00:0a", master=9, flags=("self",)),
    )
    here = namespace(fdb=entries)
    assert learned_port(here, bridge(), FRAME) == 2
    assert learned_port(here, bridge(vlan_filtering=1), FRAME) is None
    assert learned_port(here, bridge(), Frame(lladdr="02:00:00:00:00:0a", source="", address="")) is None
    assert floods(port(1), FRAME)
    assert not floods(port(1, flood=False), FRAME)
    assert not floods(port(1, bcast_flood=False), Frame(lladdr="", source="", address=""))


ALL = Frame(lladdr="", source="02:00:00:00:00:01", address="10.0.0.2")


def spread(made: Wires, start: LinkId, lladdr: str = "", address: str = "10.0.0.2") -> FrameOutcome:
    return send_frame(IndexedInventory(made.inventory), start, Frame(lladdr=lladdr, source="02::", address=address))


def eth0(made: Wires, space: str) -> LinkId:
    return LinkId(netns=made.netns(space), ifindex=2)


def lladdr(made: Wires, at: LinkId) -> str:
    link = made.inventory.link(at)
    assert link is not None
    return link.address


def test_a_question_to_all_lands_on_every_port_and_on_the_bridge() -> None:
    made = two_on_a_bridge()
    found = spread(made, eth0(made, "a"))
    assert {one.at for one in found.receivers} == {eth0(made, "b"), LinkId(netns=made.netns("host"), ifindex=2)}
    assert any("hairpin is off" in drop.because for drop in found.drops)


def test_a_frame_to_one_passes_pair_bridge_pair() -> None:
    made = two_on_a_bridge()
    found = spread(made, eth0(made, "a"), lladdr(made, eth0(made, "b")))
    (receiver,) = found.receivers
    assert receiver.at == eth0(made, "b")
    assert [crossing.what for crossing in receiver.crossings] == [
        "eth0 to its peer va",
        "bridge br0 from port va to port vb",
        "vb to its peer eth0",
    ]


@pytest.mark.parametrize(("port", "reason"), [({"state": "blocking"}, "blocking"), ({"isolated": True}, "isolated")])
def test_ports_that_do_not_pass_on(port: dict[str, Detail], reason: str) -> None:
    made = two_on_a_bridge(**port)
    found = spread(made, eth0(made, "a"), lladdr(made, eth0(made, "b")))
    assert not found.receivers
    assert any(reason in drop.because for drop in found.drops)


def test_a_device_that_is_down_or_leads_out_of_sight() -> None:
    made = two_on_a_bridge()
    made.change(eth0(made, "b"), flags=0)
    found = spread(made, eth0(made, "a"), lladdr(made, eth0(made, "b")))
    assert "eth0 is down" in [drop.because for drop in found.drops]
    assert not found.receivers
    made.spaces["a"].ends.clear()
    assert spread(made, eth0(made, "a")).unseen[0].because.startswith("the peer of eth0 is not in a visible namespace")


def test_hardware_leads_out_of_this_machine_and_a_dummy_nowhere() -> None:
    made = Wires()
    made.space("a")
    assert "leads out of this machine" in spread(made, made.device("a", "eth0")).unseen[0].because
    assert "tunnel" in spread(made, made.device("a", "wg0", "wireguard")).unseen[0].because
    assert "does not model" in spread(made, made.device("a", "odd0", "oddity")).unseen[0].because
    swallowed = spread(made, made.device("a", "dummy0", "dummy"))
    assert not swallowed.unseen
    assert "discards" in swallowed.drops[0].because


def test_a_tag_leads_to_the_vlan_of_that_number() -> None:
    made = Wires()
    made.space("a")
    made.space("b")
    one, other = made.pair(("a", "eth0", ""), ("b", "eth0", ""))
    for space, parent in (("a", one), ("b", other)):
        for tag in (10, 20):
            child = made.device(space, f"eth0.{tag}", "vlan", details={"id": tag})
            made.spaces[space].ends[child.ifindex] = parent
    found = spread(made, LinkId(netns=made.netns("a"), ifindex=4))
    assert [one.at for one in found.receivers] == [LinkId(netns=made.netns("b"), ifindex=4)]
    made.spaces["b"].ends.clear()
    made.spaces["b"].ends[other.ifindex] = one
    assert "has no VLAN 20" in spread(made, LinkId(netns=made.netns("a"), ifindex=4)).drops[0].because


@pytest.mark.parametrize("mode", ["bridge", "private"])
def test_macvlans_hear_their_siblings_but_not_what_they_stand_on(mode: str) -> None:
    made = Wires()
    for space in ("host", "lan", "a", "b"):
        made.space(space)
    parent, outside = made.pair(("host", "eth0", "10.0.0.254/24"), ("lan", "eth0", "10.0.0.9/24"))
    children = []
    for space in ("a", "b"):
        child = made.device(space, "mv0", "macvlan", details={"mode": mode})
        made.spaces[space].ends[child.ifindex] = parent
        children.append(child)
    found = {one.at for one in spread(made, children[0]).receivers}
    assert found == ({children[1], outside} if mode == "bridge" else {outside})
    back = {one.at for one in spread(made, outside).receivers}
    assert back == {parent, *children}
    one = spread(made, outside, lladdr(made, children[1]))
    assert [receiver.at for receiver in one.receivers] == [children[1]]


def test_ipvlans_share_a_hardware_address() -> None:
    made = Wires()
    for space in ("host", "lan", "a", "b"):
        made.space(space)
    parent, outside = made.pair(("host", "eth0", "10.0.0.254/24"), ("lan", "eth0", "10.0.0.9/24"))
    children = []
    for number, space in enumerate(("a", "b"), 1):
        child = made.device(space, "iv0", "ipvlan", f"10.0.0.{number}/24", details={"mode": "l2"})
        made.change(child, address=lladdr(made, parent))
        made.spaces[space].ends[child.ifindex] = parent
        children.append(child)
    assert [one.at for one in spread(made, children[0]).receivers] == [children[1]]
    assert [one.at for one in spread(made, children[0], address="10.0.0.254").receivers] == [outside]
    assert [one.at for one in spread(made, outside, address="10.0.0.1").receivers] == [children[0]]


def test_a_bond_sends_by_its_one_port_that_works() -> None:
    made = Wires()
    made.space("a")
    made.space("b")
    port, other = made.pair(("a", "eth0", ""), ("b", "eth0", ""))
    bond = made.device("a", "bond0", "bond")
    made.change(port, master=bond.ifindex)
    assert [one.at for one in spread(made, bond).receivers] == [other]
    second, _ = made.pair(("a", "eth1", ""), ("b", "eth1", ""))
    made.change(second, master=bond.ifindex)
    assert "does not model" in spread(made, bond).unseen[0].because
    made.change(bond, details={"active_slave": "eth0"})
    assert [one.at for one in spread(made, bond).receivers] == [other]
    assert [one.at for one in spread(made, other).receivers] == [bond]


def test_bridging_on_from_a_port_leaves_the_bridge_itself_out() -> None:
    made = two_on_a_bridge()
    host = made.netns("host")
    frame = Frame(lladdr=lladdr(made, eth0(made, "b")), source="", address="10.0.0.2")
    found = bridge_frame(
        IndexedInventory(made.inventory), LinkId(netns=host, ifindex=2), LinkId(netns=host, ifindex=3), frame
    )
    assert [one.at for one in found.receivers] == [eth0(made, "b")]


def test_bridges_in_a_circle_end() -> None:
    made = Wires()
    made.space("a")
    bridges = [made.device("a", f"br{n}", "bridge") for n in range(2)]
    for n in range(2):
        one, other = made.pair(("a", f"x{n}", ""), ("a", f"y{n}", ""))
        made.change(one, master=bridges[0].ifindex, flags=UP, port={"state": "forwarding"})
        made.change(other, master=bridges[1].ifindex, flags=UP, port={"state": "forwarding"})
    assert {one.at for one in spread(made, bridges[0]).receivers} <= set(bridges)


def ask(made: Wires, address: str, asker: str = "10.0.0.1") -> ResolvedNeighbour | UnresolvedNeighbour:
    return resolve_neighbour(
        IndexedInventory(made.inventory), LinkId(netns=made.netns("a"), ifindex=2), address, asker=asker
    )


def remember(made: Wires, lladdr: str, *states: str) -> None:
    made.spaces["a"].neighbours.append(Neighbour(ifindex=2, address="10.0.0.2", lladdr=lladdr, states=states))


def test_the_owner_answers() -> None:
    made = two_on_a_bridge()
    found = ask(made, "10.0.0.2")
    assert isinstance(found, ResolvedNeighbour)
    assert found.lladdr == made.spaces["b"].links[2].address


def test_nobody_answers() -> None:
    found = ask(two_on_a_bridge(), "10.0.0.77")
    assert isinstance(found, UnresolvedNeighbour)
    assert found.end is PathEnd.NO_NEIGHBOUR


def test_why_the_owner_is_not_heard() -> None:
    found = ask(two_on_a_bridge(isolated=True), "10.0.0.2")
    assert isinstance(found, UnresolvedNeighbour)
    assert found.end is PathEnd.NO_NEIGHBOUR
    assert "isolated" in found.because


@pytest.mark.parametrize(("state", "end"), [("STALE", PathEnd.DROPPED), ("FAILED", None)])
def test_what_the_table_says_counts_while_it_is_in_force(state: str, end: PathEnd | None) -> None:
    made = two_on_a_bridge()
    remember(made, "02:dd:dd:dd:dd:dd", state)
    found = ask(made, "10.0.0.2")
    assert (found.end if isinstance(found, UnresolvedNeighbour) else None) is end


def test_an_entry_that_holds_needs_no_answer() -> None:
    made = two_on_a_bridge(bcast_flood=False)
    assert isinstance(ask(made, "10.0.0.2"), UnresolvedNeighbour)
    remember(made, made.spaces["b"].links[2].address, "PERMANENT")
    assert isinstance(ask(made, "10.0.0.2"), ResolvedNeighbour)


def test_two_that_answer_are_not_chosen_from() -> None:
    made = two_on_a_bridge()
    made.space("c")
    made.bridged("c", "10.0.0.2/24", "host", LinkId(netns=made.netns("host"), ifindex=2))
    found = ask(made, "10.0.0.2")
    assert isinstance(found, UnresolvedNeighbour)
    assert found.end is PathEnd.UNKNOWN
    assert "several answer" in found.because


def test_beyond_what_can_be_seen_somebody_may_answer_unless_the_table_says_no() -> None:
    made = two_on_a_bridge()
    port = made.device("host", "eth9")
    made.change(port, master=2, port={"state": "forwarding"})
    found = ask(made, "10.0.0.77")
    assert isinstance(found, UnresolvedNeighbour)
    assert found.end is PathEnd.UNKNOWN
    made.spaces["a"].neighbours.append(Neighbour(ifindex=2, address="10.0.0.77", lladdr="", states=("FAILED",)))
    failed = ask(made, "10.0.0.77")
    assert isinstance(failed, UnresolvedNeighbour)
    assert failed.end is PathEnd.NO_NEIGHBOUR


def test_a_namespace_answers_for_an_address_of_another_device_unless_it_disbelieves_the_asker() -> None:
    made = two_on_a_bridge()
    made.device("b", "dummy0", "dummy", "10.5.0.1/32")
    assert isinstance(ask(made, "10.5.0.1"), ResolvedNeighbour)
    made.spaces["b"].settings = KernelSettings(rp_filter=(("all", 1),))
    assert isinstance(ask(made, "10.5.0.1"), ResolvedNeighbour)
    made.spaces["b"].routes = [r for r in made.spaces["b"].routes if r.type == "local"]
    assert isinstance(ask(made, "10.5.0.1"), UnresolvedNeighbour)
