"""Devices are found by namespace and index: indexes alone collide."""

from collections.abc import Mapping

import pytest

from netdiag.deployment.model.causes import Certainty
from netdiag.linux.netns import Netns
from netdiag.linux.rtnetlink import InterfaceAddress, Link, Route
from netdiag.linux.ruleset import Chain, FilterRule, Origin, Ruleset, Table
from netdiag.linux.sockets import Listener, Protocol
from netdiag.topology.graph import HopKind, PathEnd, Published, PublishedBy
from netdiag.topology.inventory import (
    Coverage,
    Inventory,
    LinkEnds,
    LinkId,
    NamespaceFacts,
    Unread,
    measure_coverage,
    resolve_ends,
)
from netdiag.topology.segments import Segment, end_of, is_pair, segment_by_link, segments
from tests.house.tree import ROOT
from tests.rules.topology_recorded import Recorded
from tests.topology.test_diff import BROKER, TOPOLOGY

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


RULE = FilterRule(number=1, handle=None, expressions=(), text="-j ACCEPT")


def test_everything_is_counted_once() -> None:
    full = NamespaceFacts(
        netns=Netns(inode=1),
        links=(Link(ifindex=1, ifname="lo"), Link(ifindex=2, ifname="eth0")),
        addresses=(InterfaceAddress(ifindex=1, address="127.0.0.1", prefix_length=8, scope=254),),
        routes=(
            Route(family=4, destination="0.0.0.0/0", table=254, type="unicast", scope=0, protocol=2),
            Route(family=4, destination="10.0.0.0/8", table=254, type="unicast", scope=0, protocol=2),
            Route(family=4, destination="11.0.0.0/8", table=254, type="unicast", scope=0, protocol=2),
        ),
        listeners=(Listener(protocol=Protocol.TCP, family=4, address="0.0.0.0", port=9092, inode=7),),
        ruleset=Ruleset(
            tables=(
                Table(family="ip", name="nat", origin=Origin.NFTABLES, chains=(Chain(name="a", rules=(RULE, RULE)),)),
                Table(family="ip", name="raw", origin=Origin.IPTABLES_LEGACY, chains=(Chain(name="b", rules=(RULE,)),)),
            )
        ),
        unread=(Unread(what="routes of net:[1]", because="too many"),),
    )
    closed = NamespaceFacts(netns=Netns(inode=2), entered=False)
    unread = (
        Unread(what="process 1", because="permission denied"),
        Unread(what="process 1", because="permission denied"),
        Unread(what="process 17", because="permission denied"),
        Unread(what="process 9", because="it holds 300000 files open"),
        Unread(what="sockets of process 1", because="not permitted"),
        Unread(what="net:[2]", because="too many"),
    )
    found = measure_coverage(Inventory(namespaces={1: full, 2: closed}, own=1, unread=unread, complete=False))
    assert found == Coverage(
        namespaces=2,
        links=2,
        addresses=1,
        routes=3,
        listeners=1,
        filter_rules=3,
        closed=1,
        unread_processes=(("permission denied", 2), ("it holds 300000 files open", 1)),
        unread_facts=(("too many", 2), ("not permitted", 1)),
        complete=False,
    )
    assert (found.processes, found.facts) == (3, 3)


def test_nothing_is_nothing() -> None:
    found = measure_coverage(Inventory(namespaces={}, own=1))
    assert (found.namespaces, found.processes, found.facts, found.complete) == (0, 0, 0, True)


HOST, ONE, TWO, THREE = 100, 1, 2, 3
# What the host calls the others, and they the host.
NUMBERS = {(HOST, ONE): 0, (HOST, TWO): 1, (HOST, THREE): 2, (ONE, HOST): 0, (TWO, HOST): 0, (THREE, HOST): 7}


def veth(ifindex: int, link: int, netnsid: int | None = 0, kind: str = "veth") -> Link:
    return Link(ifindex=ifindex, ifname=f"{kind}{ifindex}", kind=kind, link=link, link_netnsid=netnsid)


class Kernel:
    """Answers from NUMBERS, and counts the questions."""

    def __init__(self, numbers: Mapping[tuple[int, int], int] = NUMBERS) -> None:
        self.numbers = numbers
        self.asked: list[tuple[int, int]] = []

    def __call__(self, viewer: int, candidate: int) -> int | None:
        self.asked.append((viewer, candidate))
        return self.numbers.get((viewer, candidate), -1)


def resolved(
    links: Mapping[int, tuple[Link, ...]], kernel: Kernel | None = None, closed: tuple[int, ...] = ()
) -> LinkEnds:
    return resolve_ends(links, closed, kernel or Kernel())


def test_containers_made_alike_are_told_apart_by_asking() -> None:
    """Every container has its eth0 as 2, leading to 5: what the host calls them decides."""
    links = {
        HOST: (veth(5, 2, 1), veth(6, 2, 0), veth(7, 2, 2)),
        ONE: (veth(2, 6),),
        TWO: (veth(2, 5),),
        THREE: (veth(2, 7, 7),),
    }
    kernel = Kernel()
    found = resolved(links, kernel)
    assert found.ends == {
        HOST: {5: LinkId(netns=TWO, ifindex=2), 6: LinkId(netns=ONE, ifindex=2), 7: LinkId(netns=THREE, ifindex=2)},
        ONE: {2: LinkId(netns=HOST, ifindex=6)},
        TWO: {2: LinkId(netns=HOST, ifindex=5)},
        THREE: {2: LinkId(netns=HOST, ifindex=7)},
    }
    assert found.nsids == {HOST: {0: ONE, 1: TWO, 2: THREE}, ONE: {0: HOST}, TWO: {0: HOST}, THREE: {7: HOST}}
    assert not found.unread
    assert len(kernel.asked) == 6


def test_equal_pairs_of_indexes_are_asked_about_until_the_number_fits() -> None:
    """Two hosts whose containers have the very same indexes on both sides."""
    other = 200
    numbers = {(HOST, ONE): 0, (HOST, TWO): -1, (other, TWO): 0, (ONE, HOST): 0, (TWO, other): 0}
    links = {HOST: (veth(5, 2),), other: (veth(5, 2),), ONE: (veth(2, 5),), TWO: (veth(2, 5),)}
    kernel = Kernel(numbers)
    found = resolved(links, kernel)
    assert {netns: ends[min(ends)].netns for netns, ends in found.ends.items()} == {
        HOST: ONE,
        other: TWO,
        ONE: HOST,
        TWO: other,
    }
    assert len(kernel.asked) == len(set(kernel.asked)) <= 8


def test_a_pair_in_one_namespace_needs_no_question() -> None:
    kernel = Kernel()
    found = resolved({ONE: (veth(2, 3, None), veth(3, 2, None))}, kernel)
    assert found.ends == {ONE: {2: LinkId(netns=ONE, ifindex=3), 3: LinkId(netns=ONE, ifindex=2)}}
    assert kernel.asked == []


def test_a_parent_elsewhere_does_not_lead_back() -> None:
    parent = Link(ifindex=4, ifname="eth0")
    found = resolved({HOST: (parent,), ONE: (veth(9, 4, 0, "macvlan"), veth(10, 9, None, "vlan"))})
    assert found.ends == {ONE: {9: LinkId(netns=HOST, ifindex=4), 10: LinkId(netns=ONE, ifindex=9)}}


def test_an_end_in_a_namespace_that_nobody_sees_is_left_out() -> None:
    found = resolved({HOST: (veth(5, 2, 9), veth(6, 2, -1)), ONE: (veth(2, 77),)})
    assert found.ends == {}
    assert not found.unread


def test_an_end_in_a_namespace_that_may_not_be_entered_is_kept() -> None:
    found = resolved({HOST: (veth(5, 2, 2),)}, closed=(THREE,))
    assert found.ends == {HOST: {5: LinkId(netns=THREE, ifindex=2)}}


def test_ends_that_changed_in_between_are_told_and_never_a_wrong_pair() -> None:
    links = {
        # 5 was read before its peer was deleted, 6 before its peer was made anew for another, 7 is a bridge now
        HOST: (veth(5, 2, 0), veth(6, 3, 0), veth(7, 4, 0), veth(8, 5, 0)),
        ONE: (veth(3, 66, 0), Link(ifindex=4, ifname="b", kind="bridge"), veth(5, 8, None)),
    }
    found = resolved(links)
    assert found.ends[HOST] == {}
    assert [one.what for one in found.unread[HOST]] == [
        f"the peer of 'veth{ifindex}' in net:[{HOST}]" for ifindex in (5, 6, 7, 8)
    ]
    assert found.unread[HOST][0].because == "it changed during the inspection: no device 2 of net:[1] leads here"


def test_questions_are_bounded_by_pairs_not_by_devices() -> None:
    """A host whose numbers nobody answers to: each namespace is asked about once."""
    many = range(1, 100)
    links = {HOST: tuple(veth(1000 + n, 2, 500 + n) for n in many), **{n: (veth(2, 1000 + n, -1),) for n in many}}
    kernel = Kernel({})
    assert resolved(links, kernel).ends == {}
    assert len(kernel.asked) == 99


TWO_BRIDGES = """
places:
  host:
    links:
      eth0: {}
      br-a: {kind: bridge}
      a1: {master: br-a, peer: one eth0}
      a2: {master: br-a, peer: two eth0}
      br-b: {kind: bridge}
      b1: {master: br-b, peer: three eth0}
      tap0: {kind: tun, master: br-b}
      lost: {kind: veth}
  one: {links: {eth0: {}}}
  two:
    links:
      eth0: {}
      shim: {kind: macvlan, parent: two eth0}
      tagged: {kind: vlan, parent: two eth0}
  three: {links: {eth0: {}}}
"""


def names_of(recorded: Recorded, segment: Segment) -> set[str]:
    found = recorded.topology
    return {f"{found.places[end.at.netns - 100].name} {end.link.ifname}" for end in segment.ends}


def test_a_bridge_its_far_ends_and_what_stands_on_them_are_one() -> None:
    recorded = Recorded(TWO_BRIDGES)
    found = {frozenset(names_of(recorded, s)): s for s in segments(recorded.topology.inventory)}
    first = found[frozenset({"host br-a", "one eth0", "two eth0", "two shim"})]
    assert first.closed
    assert [at.ifindex for at in first.ports] == [4, 5]
    behind = {end.link.ifname: end.port.ifindex for end in first.ends if end.port is not None}
    assert behind == {"eth0": 5, "shim": 5}
    assert frozenset({"two tagged"}) in found


def test_behind_a_tap_and_a_lost_end_somebody_may_be() -> None:
    recorded = Recorded(TWO_BRIDGES)
    found = {frozenset(names_of(recorded, s)): s.closed for s in segments(recorded.topology.inventory)}
    assert not found[frozenset({"host br-b", "three eth0"})]
    assert not found[frozenset({"host lost"})]
    assert not found[frozenset({"host eth0"})]


def test_two_bridges_that_are_joined_by_a_cable_are_one_segment() -> None:
    recorded = Recorded(
        "places: {host: {links: {br-a: {kind: bridge}, a: {master: br-a, peer: host b}, b: {master: br-b}, "
        "br-b: {kind: bridge}}}}"
    )
    (segment,) = segments(recorded.topology.inventory)
    assert len(segment.bridges) == 2
    assert segment.closed


def test_ports_of_a_filtering_bridge_have_their_vlan() -> None:
    recorded = Recorded(
        "places: {host: {links: {br: {kind: bridge, details: {vlan_filtering: 1}}, "
        "p: {master: br, peer: one eth0, pvid: 7}, q: {master: br, peer: two eth0}}}, "
        "one: {links: {eth0: {}}}, two: {links: {eth0: {}}}}"
    )
    (segment,) = segments(recorded.topology.inventory)
    assert [end.vlan for end in segment.ends] == [None, 7, 0]


def test_a_bond_takes_frames_for_its_ports() -> None:
    recorded = Recorded(
        "places: {host: {links: {bond0: {kind: bond}, eth0: {master: bond0, peer: other a}, "
        "eth1: {master: bond0, peer: other b}}}, other: {links: {a: {}, b: {}}}}"
    )
    (segment,) = segments(recorded.topology.inventory)
    assert [end.link.ifname for end in segment.ends] == ["bond0", "a", "b"]
    assert {end.port for end in segment.ends} == {None}


def test_every_device_knows_its_segment_and_its_other_end() -> None:
    inventory = Recorded(TWO_BRIDGES).topology.inventory
    port, far, bridge = (LinkId(netns=n, ifindex=i) for n, i in ((100, 4), (101, 2), (100, 3)))
    found = segment_by_link(segments(inventory))
    assert found[port] is found[far] is found[bridge]
    assert (end_of(inventory, port), end_of(inventory, bridge)) == (far, None)
    link = inventory.link(port)
    assert link is not None
    assert is_pair(link)


def test_macvlans_that_speak_to_nobody_are_apart() -> None:
    text = "places: {{host: {{links: {{eth0: {{}}, a: {{kind: macvlan, parent: host eth0, details: {{mode: {}}}}}}}}}}}"
    joined, apart = (segments(Recorded(text.format(mode)).topology.inventory) for mode in ("bridge", "vepa"))
    assert [len(joined), len(apart)] == [1, 2]
    assert not any(segment.closed for segment in apart)


def published(dnat: tuple[str, ...], proxies: tuple[int, ...]) -> Published:
    return Published(
        key="0.0.0.0:9092/tcp",
        host_ip="0.0.0.0",
        published=9092,
        protocol="tcp",
        container="f00",
        target=9092,
        asked=True,
        in_force=True,
        dnat=dnat,
        proxies=proxies,
    )


@pytest.mark.parametrize(
    ("dnat", "proxies", "by"),
    [
        ((), (), ()),
        (("-A DOCKER",), (), (PublishedBy.DNAT,)),
        ((), (7,), (PublishedBy.PROXY,)),
        (("-A",), (7,), (PublishedBy.DNAT, PublishedBy.PROXY)),
    ],
)
def test_what_makes_a_published_port_work(
    dnat: tuple[str, ...], proxies: tuple[int, ...], by: tuple[PublishedBy, ...]
) -> None:
    assert published(dnat, proxies).by == by


def test_places_by_namespace_and_by_name() -> None:
    place = TOPOLOGY.place(BROKER)
    assert place is not None
    assert place is TOPOLOGY.named("kafka")
    assert TOPOLOGY.place(99) is None
    assert TOPOLOGY.named("nobody") is None


def test_every_end_is_described() -> None:
    page = (ROOT / "docs" / "output.md").read_text(encoding="utf-8")
    assert [end.value for end in PathEnd if f"`{end.value}`" not in page] == []


def test_every_kind_of_hop_is_described() -> None:
    page = (ROOT / "docs" / "output.md").read_text(encoding="utf-8")
    assert [kind.value for kind in HopKind if f"`{kind.value}`" not in page] == []


def test_certainties_stand_in_order() -> None:
    assert [one.value for one in Certainty] == ["proven", "found", "possible", "predicted"]
