"""What the parts of the join look up."""

from dataclasses import replace

from netdiag.linux.link import Link
from netdiag.topology.inventory import LinkId
from netdiag.topology.known import Known, owner_of
from tests.topology.five_brokers import machine
from tests.topology.spaces import ROOT


def known() -> Known:
    made = machine()
    made.host.add(Link(ifindex=90, ifname="eth0.7", kind="vlan", link=2))
    made.host.add(Link(ifindex=91, ifname="gone.7", kind="vlan", link=7, link_netnsid=-1))
    made.host.add(Link(ifindex=92, ifname="self", kind="vlan", link=92))
    return Known(inventory=made.inventory(), containers=made.containers, host=ROOT)


def test_ends_are_where_the_inventory_says_or_in_the_same_namespace() -> None:
    ends = known().ends
    assert ends[LinkId(netns=ROOT, ifindex=90)] == LinkId(netns=ROOT, ifindex=2)
    assert LinkId(netns=ROOT, ifindex=91) not in ends
    assert LinkId(netns=ROOT, ifindex=92) not in ends
    assert ends[LinkId(netns=ROOT, ifindex=6)].ifindex == 2
    assert ends[ends[LinkId(netns=ROOT, ifindex=6)]] == LinkId(netns=ROOT, ifindex=6)


def test_an_engine_elsewhere_has_no_container_here() -> None:
    here = known()
    assert len(here.netns_of) == 7
    assert not Known(inventory=here.inventory, containers=here.containers, host=None).netns_of


def test_whose_network_a_container_uses() -> None:
    containers = known().containers
    first, second, *_ = containers.values()
    assert owner_of(first, containers) is None
    for word in (second.id, second.name):
        assert owner_of(replace(first, network_mode=f"container:{word}"), containers) == second.id
    assert owner_of(replace(first, network_mode="container:"), containers) is None
    assert owner_of(replace(first, network_mode="container:gone"), containers) is None
