"""Devices are found by namespace and index: indexes alone collide."""

from netdiag.linux.link import Link
from netdiag.linux.netns import Netns
from netdiag.topology.inventory import Inventory, LinkId, NamespaceFacts

FIRST, SECOND = Link(ifindex=2, ifname="eth0"), Link(ifindex=2, ifname="veth1")
INVENTORY = Inventory(
    namespaces={
        1: NamespaceFacts(netns=Netns(inode=1), links=(FIRST,)),
        2: NamespaceFacts(netns=Netns(inode=2), links=(SECOND,)),
    },
    own=1,
)


def test_the_same_index_in_two_namespaces() -> None:
    assert INVENTORY.link(LinkId(netns=1, ifindex=2)) is FIRST
    assert INVENTORY.link(LinkId(netns=2, ifindex=2)) is SECOND


def test_what_is_not_there_is_none() -> None:
    assert INVENTORY.link(LinkId(netns=1, ifindex=3)) is None
    assert INVENTORY.link(LinkId(netns=3, ifindex=2)) is None


def test_places_are_in_the_order_of_namespaces() -> None:
    places = [LinkId(netns=2, ifindex=1), LinkId(netns=1, ifindex=9)]
    assert sorted(places) == places[::-1]
