"""Where devices lead to: namespaces with equal indexes, numbers that lie, devices that vanish."""

from collections.abc import Mapping

from netdiag.linux.link import Link
from netdiag.topology.ends import Ends, resolve_ends
from netdiag.topology.inventory import LinkId

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


def resolved(links: Mapping[int, tuple[Link, ...]], kernel: Kernel | None = None, closed: tuple[int, ...] = ()) -> Ends:
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
        f"the other end of 'veth{ifindex}' of net:[{HOST}]" for ifindex in (5, 6, 7, 8)
    ]
    assert found.unread[HOST][0].because == "it changed while it was read: no device 2 of net:[1] leads here"


def test_questions_are_bounded_by_pairs_not_by_devices() -> None:
    """A host whose numbers nobody answers to: each namespace is asked about once."""
    many = range(1, 100)
    links = {HOST: tuple(veth(1000 + n, 2, 500 + n) for n in many), **{n: (veth(2, 1000 + n, -1),) for n in many}}
    kernel = Kernel({})
    assert resolved(links, kernel).ends == {}
    assert len(kernel.asked) == 99
