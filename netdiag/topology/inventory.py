"""What the kernel of this machine has, namespace by namespace, and what could not be read.

An inventory is read by `netdiag.io.kernel`. It decides nothing and knows neither containers nor Kafka. Namespaces are
identified by inode, links by namespace and ifindex: an ifindex alone is not unique across namespaces.
"""

import dataclasses
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from operator import attrgetter
from typing import NamedTuple

from netdiag.linux.netns import Netns
from netdiag.linux.procfs import Process
from netdiag.linux.rtnetlink import (
    BridgeVlan,
    FdbEntry,
    InterfaceAddress,
    KernelSettings,
    Link,
    Neighbour,
    Route,
    RoutingRule,
)
from netdiag.linux.ruleset import Ruleset
from netdiag.linux.sockets import Listener
from netdiag.values import dataclass

_IFINDEX = attrgetter("ifindex")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """Something that could not be read: `what` ("process 17", "routes of net:[4026532217]") and one line of reason."""

    what: str
    because: str


# A tuple, because it is the key of nearly everything: hashed by C, not by a method.
class LinkId(NamedTuple):
    """A device of this machine: the inode of its namespace and its ifindex there."""

    netns: int
    ifindex: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceFacts:
    """Everything in one namespace. Tuples are in the kernel's order.

    `entered` is False for a namespace that is known but could not be looked into; then all is empty. `nsids` numbers
    other namespaces as this one does. `ends` leads from the ifindex of a device whose other end is elsewhere (a veth's
    peer, a macvlan's parent; IFLA_LINK) to that end, in whatever namespace; a device whose other end is in a namespace
    that nobody can see is not in it. `routes` are those of all tables.
    """

    netns: Netns
    entered: bool = True
    links: tuple[Link, ...] = ()
    addresses: tuple[InterfaceAddress, ...] = ()
    routes: tuple[Route, ...] = ()
    rules: tuple[RoutingRule, ...] = ()
    neighbours: tuple[Neighbour, ...] = ()
    fdb: tuple[FdbEntry, ...] = ()
    vlans: tuple[BridgeVlan, ...] = ()
    listeners: tuple[Listener, ...] = ()
    ruleset: Ruleset = field(default_factory=Ruleset)
    settings: KernelSettings = field(default_factory=KernelSettings)
    nsids: Mapping[int, int] = field(default_factory=dict)
    ends: Mapping[int, LinkId] = field(default_factory=dict)
    unread: tuple[Unread, ...] = ()

    def link(self, ifindex: int) -> Link | None:
        """The device of that index."""
        # the kernel mostly lists them in the order of their indexes
        place = bisect_left(self.links, ifindex, key=_IFINDEX)
        if place < len(self.links) and self.links[place].ifindex == ifindex:
            return self.links[place]
        return next((link for link in self.links if link.ifindex == ifindex), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """All namespaces by inode, those of `processes` that matter to them, and what could not be read.

    `processes` are by pid: the owners of listeners and tun/tap devices, docker-proxies, and the lowest pids of every
    namespace. `tun_owners` are the processes that hold a tun or tap device open. `own` is the namespace of this
    process, `root` that of pid 1, None where it cannot be told. `complete` is False without the rights to see all.
    """

    namespaces: Mapping[int, NamespaceFacts]
    own: int
    root: int | None = None
    processes: Mapping[int, Process] = field(default_factory=dict)
    tun_owners: Mapping[LinkId, tuple[int, ...]] = field(default_factory=dict)
    unread: tuple[Unread, ...] = ()
    complete: bool = True
    hostname: str = ""
    kernel: str = ""

    def link(self, place: LinkId) -> Link | None:
        """The device at that place."""
        facts = self.namespaces.get(place.netns)
        return None if facts is None else facts.link(place.ifindex)


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What was read, and what was not.

    `closed` are namespaces that are known but could not be looked into. `unread_processes` and `unread_facts` count
    with their reasons, the most frequent first; facts are everything but processes.
    """

    namespaces: int
    links: int
    addresses: int
    routes: int
    listeners: int
    filter_rules: int
    closed: int = 0
    unread_processes: tuple[tuple[str, int], ...] = ()
    unread_facts: tuple[tuple[str, int], ...] = ()
    complete: bool = True

    @property
    def processes(self) -> int:
        """How many processes could not be read."""
        return sum(count for _, count in self.unread_processes)

    @property
    def facts(self) -> int:
        """How many other things could not be read."""
        return sum(count for _, count in self.unread_facts)


def measure_coverage(inventory: Inventory) -> Coverage:
    """The numbers of an inventory."""
    everything = tuple(inventory.namespaces.values())
    unread = (*inventory.unread, *(one for facts in everything for one in facts.unread))
    processes = tuple(one for one in unread if is_process(one))
    return Coverage(
        namespaces=len(everything),
        links=sum(len(facts.links) for facts in everything),
        addresses=sum(len(facts.addresses) for facts in everything),
        routes=sum(len(facts.routes) for facts in everything),
        listeners=sum(len(facts.listeners) for facts in everything),
        filter_rules=sum(
            len(chain.rules) for facts in everything for table in facts.ruleset.tables for chain in table.chains
        ),
        closed=sum(not facts.entered for facts in everything),
        unread_processes=_by_reason({one.what: one for one in processes}.values()),
        unread_facts=_by_reason(one for one in unread if not is_process(one)),
        complete=inventory.complete,
    )


def is_process(unread: Unread) -> bool:
    """Whether it is a process as a whole that could not be read."""
    return re.fullmatch(r"process \d+", unread.what) is not None


def _by_reason(unread: Iterable[Unread]) -> tuple[tuple[str, int], ...]:
    counted = Counter(one.because for one in unread)
    return tuple(sorted(counted.items(), key=lambda item: (-item[1], item[0])))


AskNsid = Callable[[int, int], int | None]
"""The number that the first namespace has for the second, None for none."""
# Kinds whose two ends name each other.
_PAIRS = frozenset({"veth", "netkit", "vxcan"})


@dataclasses.dataclass(slots=True, kw_only=True)
class LinkEnds:
    """By namespace: where devices lead to, which namespaces its numbers mean, and what did not fit together."""

    ends: dict[int, dict[int, LinkId]] = field(default_factory=dict)
    nsids: dict[int, dict[int, int]] = field(default_factory=dict)
    unread: dict[int, list[Unread]] = field(default_factory=dict)


def resolve_ends(links: Mapping[int, Iterable[Link]], closed: Iterable[int], ask: AskNsid) -> LinkEnds:
    """The other ends of all devices; `closed` are namespaces that are known but could not be looked into."""
    return _Resolver(links, tuple(closed), ask).resolve()


class _Resolver:
    def __init__(self, links: Mapping[int, Iterable[Link]], closed: tuple[int, ...], ask: AskNsid) -> None:
        self._links = {netns: {link.ifindex: link for link in found} for netns, found in links.items()}
        self._closed = closed
        self._ask = ask
        self._asked: set[tuple[int, int]] = set()
        self._result = LinkEnds(nsids={netns: {} for netns in self._links})
        # Namespaces with a device of that index; and those where that device leads to this index.
        self._having: dict[int, list[int]] = {}
        self._leading: dict[tuple[int, int], list[int]] = {}
        for netns, found in self._links.items():
            for link in found.values():
                self._having.setdefault(link.ifindex, []).append(netns)
                if link.link is not None and link.link_netnsid is not None:
                    self._leading.setdefault((link.ifindex, link.link), []).append(netns)

    def resolve(self) -> LinkEnds:
        open_ends = [(netns, link) for netns, found in self._links.items() for link in found.values() if link.link]
        # twice, for numbers that are found out on behalf of later devices
        for _ in range(2):
            open_ends = [(netns, link) for netns, link in open_ends if not self._leads(netns, link)]
        self._drop_torn()
        return self._result

    def _leads(self, netns: int, link: Link) -> bool:
        """Note where it leads to, if that can be told."""
        place = self._namespace(netns, link)
        if place is None or link.link is None:
            return False
        self._result.ends.setdefault(netns, {})[link.ifindex] = LinkId(netns=place, ifindex=link.link)
        return True

    def _namespace(self, viewer: int, link: Link) -> int | None:
        number = link.link_netnsid
        if number is None:
            return viewer
        known = self._result.nsids[viewer]
        if number < 0 or number in known:
            return known.get(number)
        for candidate in self._candidates(viewer, link):
            if (viewer, candidate) in self._asked:
                continue
            self._asked.add((viewer, candidate))
            answer = self._ask(viewer, candidate)
            if answer is not None and answer >= 0:
                known[answer] = candidate
            if answer == number:
                return candidate
        return None

    def _candidates(self, viewer: int, link: Link) -> Iterator[int]:
        other = link.link or 0
        for candidate in self._leading.get((other, link.ifindex), ()):
            if candidate != viewer:
                yield candidate
        for candidate in self._having.get(other, ()):
            if candidate != viewer:
                yield candidate
        yield from self._closed

    def _drop_torn(self) -> None:
        """An end that is not there, or whose own end is elsewhere, was read at another time than this one."""
        for netns, ends in self._result.ends.items():
            for ifindex, place in sorted(ends.items()):
                if place.netns not in self._links:
                    continue
                link = self._links[netns][ifindex]
                other = self._links[place.netns].get(place.ifindex)
                if other is None or not self._agree(netns, link, place, other):
                    del ends[ifindex]
                    because = (
                        f"it changed during the inspection: no device {place.ifindex} of net:[{place.netns}] leads here"
                    )
                    what = f"the peer of {link.ifname!r} in net:[{netns}]"
                    self._result.unread.setdefault(netns, []).append(Unread(what=what, because=because))

    def _agree(self, netns: int, link: Link, place: LinkId, other: Link) -> bool:
        if link.kind not in _PAIRS or other.kind != link.kind:
            return link.kind not in _PAIRS
        return other.link == link.ifindex and (other.link_netnsid is None) == (place.netns == netns)
