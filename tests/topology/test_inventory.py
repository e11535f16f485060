"""Finding a device of an inventory."""

import pytest

from netdiag.linux.link import Link
from netdiag.linux.netns import Netns
from netdiag.topology.inventory import Inventory, LinkId, NamespaceFacts


@pytest.mark.parametrize("order", [(1, 2, 5, 9), (9, 1, 5, 2), (5,), ()])
def test_a_device_is_found_in_whatever_order_the_kernel_lists_them(order: tuple[int, ...]) -> None:
    links = tuple(Link(ifindex=ifindex, ifname=f"eth{ifindex}") for ifindex in order)
    inventory = Inventory(namespaces={7: NamespaceFacts(netns=Netns(inode=7), links=links)}, own=7)
    for ifindex in range(12):
        found = inventory.link(LinkId(netns=7, ifindex=ifindex))
        assert (None if found is None else found.ifname) == (f"eth{ifindex}" if ifindex in order else None)
    assert inventory.link(LinkId(netns=8, ifindex=1)) is None
