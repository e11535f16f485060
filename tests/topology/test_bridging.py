"""Frames over pairs, bridges, VLANs and macvlans."""

import pytest

from netdiag.linux.link import Detail
from netdiag.topology.bridge_ports import Frame
from netdiag.topology.bridging import Spread, pass_on, send
from netdiag.topology.inventory import LinkId
from netdiag.topology.terrain import Terrain
from tests.topology.spaces import UP
from tests.topology.wires import Wires, two_on_a_bridge

ALL = Frame(lladdr="", source="02:00:00:00:00:01", address="10.0.0.2")


def spread(made: Wires, start: LinkId, lladdr: str = "", address: str = "10.0.0.2") -> Spread:
    return send(Terrain(made.inventory), start, Frame(lladdr=lladdr, source="02::", address=address))


def eth0(made: Wires, space: str) -> LinkId:
    return LinkId(netns=made.netns(space), ifindex=2)


def lladdr(made: Wires, at: LinkId) -> str:
    link = made.inventory.link(at)
    assert link is not None
    return link.address


def test_a_question_to_all_lands_on_every_port_and_on_the_bridge() -> None:
    made = two_on_a_bridge()
    found = spread(made, eth0(made, "a"))
    assert {one.at for one in found.landings} == {eth0(made, "b"), LinkId(netns=made.netns("host"), ifindex=2)}
    assert any("hairpin is off" in stop.because for stop in found.stops)


def test_a_frame_to_one_passes_pair_bridge_pair() -> None:
    made = two_on_a_bridge()
    found = spread(made, eth0(made, "a"), lladdr(made, eth0(made, "b")))
    (landing,) = found.landings
    assert landing.at == eth0(made, "b")
    assert [crossing.what for crossing in landing.crossings] == [
        "eth0 to its other end va",
        "bridge br0 from port va to port vb",
        "vb to its other end eth0",
    ]


@pytest.mark.parametrize(("port", "reason"), [({"state": "blocking"}, "blocking"), ({"isolated": True}, "isolated")])
def test_ports_that_do_not_pass_on(port: dict[str, Detail], reason: str) -> None:
    made = two_on_a_bridge(**port)
    found = spread(made, eth0(made, "a"), lladdr(made, eth0(made, "b")))
    assert not found.landings
    assert any(reason in stop.because for stop in found.stops)


def test_a_device_that_is_down_or_leads_out_of_sight() -> None:
    made = two_on_a_bridge()
    made.change(eth0(made, "b"), flags=0)
    found = spread(made, eth0(made, "a"), lladdr(made, eth0(made, "b")))
    assert "eth0 is down" in [stop.because for stop in found.stops]
    assert not found.landings
    made.spaces["a"].ends.clear()
    assert spread(made, eth0(made, "a")).unseen[0].because.startswith("the other end of eth0 is in no namespace")


def test_hardware_leads_out_of_this_machine_and_a_dummy_nowhere() -> None:
    made = Wires()
    made.space("a")
    assert "leads out of this machine" in spread(made, made.device("a", "eth0")).unseen[0].because
    assert "tunnel" in spread(made, made.device("a", "wg0", "wireguard")).unseen[0].because
    assert "not modelled" in spread(made, made.device("a", "odd0", "oddity")).unseen[0].because
    swallowed = spread(made, made.device("a", "dummy0", "dummy"))
    assert not swallowed.unseen
    assert "swallows" in swallowed.stops[0].because


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
    assert [one.at for one in found.landings] == [LinkId(netns=made.netns("b"), ifindex=4)]
    made.spaces["b"].ends.clear()
    made.spaces["b"].ends[other.ifindex] = one
    assert "has no VLAN 20" in spread(made, LinkId(netns=made.netns("a"), ifindex=4)).stops[0].because


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
    found = {one.at for one in spread(made, children[0]).landings}
    assert found == ({children[1], outside} if mode == "bridge" else {outside})
    back = {one.at for one in spread(made, outside).landings}
    assert back == {parent, *children}
    one = spread(made, outside, lladdr(made, children[1]))
    assert [landing.at for landing in one.landings] == [children[1]]


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
    assert [one.at for one in spread(made, children[0]).landings] == [children[1]]
    assert [one.at for one in spread(made, children[0], address="10.0.0.254").landings] == [outside]
    assert [one.at for one in spread(made, outside, address="10.0.0.1").landings] == [children[0]]


def test_a_bond_sends_by_its_one_port_that_works() -> None:
    made = Wires()
    made.space("a")
    made.space("b")
    port, other = made.pair(("a", "eth0", ""), ("b", "eth0", ""))
    bond = made.device("a", "bond0", "bond")
    made.change(port, master=bond.ifindex)
    assert [one.at for one in spread(made, bond).landings] == [other]
    second, _ = made.pair(("a", "eth1", ""), ("b", "eth1", ""))
    made.change(second, master=bond.ifindex)
    assert "not modelled" in spread(made, bond).unseen[0].because
    made.change(bond, details={"active_slave": "eth0"})
    assert [one.at for one in spread(made, bond).landings] == [other]
    assert [one.at for one in spread(made, other).landings] == [bond]


def test_bridging_on_from_a_port_leaves_the_bridge_itself_out() -> None:
    made = two_on_a_bridge()
    host = made.netns("host")
    frame = Frame(lladdr=lladdr(made, eth0(made, "b")), source="", address="10.0.0.2")
    found = pass_on(Terrain(made.inventory), LinkId(netns=host, ifindex=2), LinkId(netns=host, ifindex=3), frame)
    assert [one.at for one in found.landings] == [eth0(made, "b")]


def test_bridges_in_a_circle_end() -> None:
    made = Wires()
    made.space("a")
    bridges = [made.device("a", f"br{n}", "bridge") for n in range(2)]
    for n in range(2):
        one, other = made.pair(("a", f"x{n}", ""), ("a", f"y{n}", ""))
        made.change(one, master=bridges[0].ifindex, flags=UP, port={"state": "forwarding"})
        made.change(other, master=bridges[1].ifindex, flags=UP, port={"state": "forwarding"})
    assert {one.at for one in spread(made, bridges[0]).landings} <= set(bridges)
