"""What the kernel of this machine has, namespace by namespace, and what could not be read.

An inventory is read by `netdiag.io.kernel`. It decides nothing and knows neither containers nor Kafka. Namespaces are
identified by inode, links by namespace and ifindex: an ifindex alone is not unique across namespaces.
`IndexedInventory` has indexes, for predictions that look up the same addresses, routes and links many times.
"""

import dataclasses
import ipaddress
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import field
from functools import lru_cache
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


# linux/if_addr.h: not usable until proven unique, or proven not to be.
_TENTATIVE, _DAD_FAILED = 0x40, 0x08

# An address range: address bits, mask, length of the prefix.
Prefix = tuple[int, int, int]


@lru_cache(maxsize=1 << 16)
def address_bits(address: str) -> int:
    """The bits of an address; a zone (%eth0) does not count."""
    return int(ipaddress.ip_address(address.partition("%")[0]))


@lru_cache(maxsize=1 << 14)
def parse_prefix(text: str) -> Prefix:
    """A range as numbers; an address alone is a range of one."""
    network = ipaddress.ip_network(text, strict=False)
    return int(network.network_address), int(network.netmask), network.prefixlen


def in_prefix(address: int, range_: Prefix) -> bool:
    """Whether an address lies in a range of its own family."""
    return address & range_[1] == range_[0]


def family_of(address: str) -> int:
    """4 for an IPv4 address, 6 for an IPv6 one."""
    return 6 if ":" in address else 4


class IndexedNamespace:
    """One namespace with its indexes."""

    def __init__(self, facts: NamespaceFacts) -> None:
        self.facts = facts
        self.inode = facts.netns.inode
        self.links: dict[int, Link] = {link.ifindex: link for link in facts.links}
        self.by_name: dict[str, Link] = {link.ifname: link for link in facts.links}
        self.ports: dict[int, list[Link]] = defaultdict(list)
        for link in facts.links:
            if link.master is not None:
                self.ports[link.master].append(link)
        self.addresses: dict[int, list[InterfaceAddress]] = defaultdict(list)
        self.own: dict[str, InterfaceAddress] = {}
        for address in facts.addresses:
            self.addresses[address.ifindex].append(address)
            if not address.flags & (_TENTATIVE | _DAD_FAILED):
                self.own.setdefault(address.address, address)
        self.neighbours: dict[tuple[int, str], Neighbour] = {(n.ifindex, n.address): n for n in facts.neighbours}
        self.vlans: dict[int, list[BridgeVlan]] = defaultdict(list)
        for vlan in facts.vlans:
            self.vlans[vlan.ifindex].append(vlan)
        self.fdb: dict[tuple[int, str], list[FdbEntry]] = defaultdict(list)
        for entry in facts.fdb:
            if entry.master is not None and "self" not in entry.flags:
                self.fdb[entry.master, entry.lladdr].append(entry)
        self.tables: dict[tuple[int, int], list[Route]] = defaultdict(list)
        for route in facts.routes:
            self.tables[route.family, route.table].append(route)
        for routes in self.tables.values():
            routes.sort(key=lambda r: (-parse_prefix(r.destination)[2], -r.tos, r.priority))
        self.rules: dict[int, list[RoutingRule]] = {
            family: sorted((r for r in facts.rules if r.family == family), key=lambda r: r.priority)
            for family in (4, 6)
        }
        self.ifindexes = {name: link.ifindex for name, link in self.by_name.items()}
        # The hooks that have a chain.
        self.hooked = {chain.hook for table in facts.ruleset.tables for chain in table.chains if chain.hook}
        # The chains before and after address translation at a hook, by hook.
        self.around_translation: dict[str, tuple[Ruleset, Ruleset]] = {}
        self._settings = {
            "rp_filter": dict(facts.settings.rp_filter),
            "route_localnet": dict(facts.settings.route_localnet),
        }

    def setting(self, name: str, link: Link | None) -> int:
        """A sysctl of which the greater value counts, that of the link or that of `all`."""
        values = self._settings[name]
        return max(values.get("all", 0), values.get(link.ifname, 0) if link else 0)

    def forwards(self, family: int) -> bool:
        """Whether it forwards packets."""
        settings = self.facts.settings
        return bool(settings.ip_forward if family == 4 else settings.ipv6_forwarding)

    def filters_bridged(self, family: int, bridge: Link) -> bool:
        """Whether frames that a bridge forwards go through the packet filter for routed packets."""
        settings = self.facts.settings
        switch = settings.bridge_nf_call_iptables if family == 4 else settings.bridge_nf_call_ip6tables
        if switch is None:
            return False
        return switch or bool(bridge.details.get("nf_call_iptables" if family == 4 else "nf_call_ip6tables"))


class IndexedInventory:
    """All namespaces with their indexes, each made when it is first asked for."""

    def __init__(self, inventory: Inventory) -> None:
        self.inventory = inventory
        self._namespaces: dict[int, IndexedNamespace] = {}
        # Results that later predictions need again; the key says what.
        self.cache: dict[Hashable, object] = {}
        self._children: dict[LinkId, list[LinkId]] | None = None

    def namespace(self, netns: int) -> IndexedNamespace | None:
        """A namespace; None for one that could not be entered."""
        found = self._namespaces.get(netns)
        if found is None:
            facts = self.inventory.namespaces.get(netns)
            if facts is None or not facts.entered:
                return None
            found = self._namespaces[netns] = IndexedNamespace(facts)
        return found

    def link(self, where: LinkId) -> Link | None:
        """The link at that place."""
        namespace = self.namespace(where.netns)
        return None if namespace is None else namespace.links.get(where.ifindex)

    def end(self, where: LinkId) -> LinkId | None:
        """The other end of a link: the peer of a veth, the device below a macvlan."""
        facts = self.inventory.namespaces.get(where.netns)
        return None if facts is None else facts.ends.get(where.ifindex)

    def children(self, where: LinkId) -> list[LinkId]:
        """The vlans, macvlans and ipvlans on top of a link, in any namespace."""
        if self._children is None:
            self._children = defaultdict(list)
            for netns, facts in sorted(self.inventory.namespaces.items()):
                for link in facts.links:
                    if link.kind in ("vlan", "macvlan", "macvtap", "ipvlan", "ipvtap") and link.ifindex in facts.ends:
                        self._children[facts.ends[link.ifindex]].append(LinkId(netns=netns, ifindex=link.ifindex))
        return self._children.get(where, [])
