"""Pairs, ports and parents: each once, and none that only one side tells."""

from netdiag.linux.link import Link
from netdiag.topology.graph import Cable, CableKind
from netdiag.topology.inventory import LinkId
from netdiag.topology.join import join
from tests.topology.machine import Machine
from tests.topology.spaces import ROOT, Space


def pair(a: Space, index_a: int, b: Space, index_b: int, kind: str = "veth") -> tuple[LinkId, LinkId]:
    one = a.add(Link(ifindex=index_a, ifname=f"v{index_a}", kind=kind, link=index_b, link_netnsid=0))
    two = b.add(Link(ifindex=index_b, ifname=f"v{index_b}", kind=kind, link=index_a, link_netnsid=0))
    a.ends[index_a], b.ends[index_b] = two, one
    return one, two


def test_equal_indexes_in_many_namespaces() -> None:
    made = Machine()
    spaces = [made.space(names=(f"n{number}",)) for number in range(4)]
    expected = {pair(made.host, 10 + number, space, 2) for number, space in enumerate(spaces)}
    expected.add(pair(spaces[0], 7, spaces[1], 7, kind="netkit"))
    found = join(made.inventory()).cables
    assert {(cable.a, cable.b) for cable in found} == {tuple(sorted(ends)) for ends in expected}
    assert [cable.kind for cable in found].count(CableKind.NETKIT) == 1
    assert all(cable.a < cable.b for cable in found)


def test_both_ends_in_one_namespace() -> None:
    made = Machine()
    made.host.add(Link(ifindex=10, ifname="a", kind="veth", link=11))
    made.host.add(Link(ifindex=11, ifname="b", kind="veth", link=10))
    topology = join(made.inventory())
    ends = (LinkId(netns=ROOT, ifindex=10), LinkId(netns=ROOT, ifindex=11))
    assert topology.cables == (Cable(kind=CableKind.VETH, a=ends[0], b=ends[1]),)
    assert topology.unmatched == ()


def test_ports_and_parents() -> None:
    made = Machine()
    made.host.add(Link(ifindex=9, ifname="br0", kind="bridge"))
    made.host.add(Link(ifindex=10, ifname="eth0.5", kind="vlan", link=2, master=9))
    space = made.space(names=("m",))
    space.add(Link(ifindex=5, ifname="mv", kind="macvlan", link=2, link_netnsid=0))
    space.ends[5] = LinkId(netns=ROOT, ifindex=2)
    assert {(c.kind.value, c.a.ifindex, c.b.ifindex, c.b.netns) for c in join(made.inventory()).cables} == {
        ("port", 10, 9, ROOT),
        ("parent", 10, 2, ROOT),
        ("parent", 5, 2, ROOT),
    }


def test_an_end_that_nobody_can_see() -> None:
    made = Machine()
    made.host.add(Link(ifindex=10, ifname="a", kind="veth", link=4, link_netnsid=3))
    topology = join(made.inventory())
    assert topology.cables == ()
    (one,) = topology.unmatched
    assert (one.subject, one.link) == ("a of host", LinkId(netns=ROOT, ifindex=10))
    assert one.because == "its other end is in a namespace that cannot be seen from here"


def test_a_pair_that_changed_while_it_was_read() -> None:
    made = Machine()
    first, second = made.space(names=("one",)), made.space(names=("two",))
    pair(made.host, 10, first, 2)
    pair(made.host, 11, second, 2)
    first.ends[2] = LinkId(netns=ROOT, ifindex=11)
    topology = join(made.inventory())
    assert [(c.a.ifindex, c.b.netns) for c in topology.cables] == [(11, second.inode)]
    assert [one.subject for one in topology.unmatched] == ["v10 of host", "v2 of one"]
    assert "does not lead back" in topology.unmatched[0].because


def test_what_stands_on_a_device_that_nobody_can_see() -> None:
    """Also a port whose bridge went away while both were read."""
    made = Machine()
    made.host.add(Link(ifindex=10, ifname="mv", kind="macvlan", link=4, link_netnsid=3))
    made.host.add(Link(ifindex=11, ifname="v7", kind="vlan", link=77))
    made.host.add(Link(ifindex=12, ifname="gre0", kind="gre"))
    made.host.add(Link(ifindex=13, ifname="p", kind="dummy", master=78))
    topology = join(made.inventory())
    assert topology.cables == ()
    assert [(one.subject, one.because) for one in topology.unmatched] == [
        ("mv of host", "the device that it stands on cannot be seen from here"),
        ("v7 of host", "the device that it stands on cannot be seen from here"),
    ]
