"""Devices are found by namespace and index: indexes alone collide."""

import pytest

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


@pytest.mark.parametrize("order", [(1, 2, 5, 9), (9, 1, 5, 2), (5,), ()])
def test_a_device_is_found_in_whatever_order_the_kernel_lists_them(order: tuple[int, ...]) -> None:
    links = tuple(Link(ifindex=ifindex, ifname=f"eth{ifindex}") for ifindex in order)
    facts = NamespaceFacts(netns=Netns(inode=7), links=links)
    for ifindex in range(12):
        found = facts.link(ifindex)
        assert (None if found is None else found.ifname) == (f"eth{ifindex}" if ifindex in order else None)
