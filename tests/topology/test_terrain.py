"""Indexes of an inventory."""

import pytest

from netdiag.linux.kernel_settings import KernelSettings
from netdiag.linux.link import Link
from netdiag.topology.inventory import LinkId
from netdiag.topology.terrain import Place, Terrain, family_of, number, prefix, within
from tests.topology.wires import Wires


@pytest.mark.parametrize(
    ("address", "range_", "inside"),
    [
        ("10.0.0.1", "10.0.0.0/8", True),
        ("11.0.0.1", "10.0.0.0/8", False),
        ("10.0.0.1", "10.0.0.1", True),
        ("fe80::1%eth0", "fe80::/64", True),
        ("fe81::1", "fe80::/64", False),
        ("1.2.3.4", "0.0.0.0/0", True),
    ],
)
def test_an_address_lies_in_a_range(address: str, range_: str, inside: bool) -> None:
    assert within(number(address), prefix(range_)) is inside
    assert family_of(address) == (6 if ":" in address else 4)


def test_a_switch_counts_for_one_device_or_for_all() -> None:
    made = Wires()
    made.space("a", rp_filter=(("all", 0), ("eth0", 1)), route_localnet=(("all", 1),))
    place = Place(made.spaces["a"].facts())
    eth0, eth1 = Link(ifindex=2, ifname="eth0"), Link(ifindex=3, ifname="eth1")
    assert [place.setting("rp_filter", link) for link in (eth0, eth1, None)] == [1, 0, 0]
    assert place.setting("route_localnet", eth1) == 1


def test_a_bridge_filters_by_its_own_switch_or_that_of_all() -> None:
    bridge = Link(ifindex=2, ifname="br0", kind="bridge")
    own = Link(ifindex=2, ifname="br0", kind="bridge", details={"nf_call_iptables": 1})
    for value, link, expected in (
        (None, own, False),
        (False, bridge, False),
        (False, own, True),
        (True, bridge, True),
    ):
        made = Wires()
        made.space("a").settings = KernelSettings(bridge_nf_call_iptables=value)
        assert Place(made.spaces["a"].facts()).filters_bridged(4, link) is expected


def test_what_stands_on_a_device_is_found_in_whatever_namespace() -> None:
    made = Wires()
    made.space("host")
    made.space("c")
    parent = made.device("host", "eth0")
    child = made.device("c", "mv0", "macvlan")
    made.spaces["c"].ends[child.ifindex] = parent
    terrain = Terrain(made.inventory)
    assert terrain.children(parent) == [child]
    assert terrain.end(child) == parent
    assert terrain.place(1) is None
    assert terrain.link(LinkId(netns=1, ifindex=1)) is None
