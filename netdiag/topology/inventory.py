"""What the kernel of this machine has: every network namespace with everything in it, and what could not be read.

An inventory is read by `netdiag.io.kernel` and judged by nobody; it decides nothing and knows neither containers nor
Kafka. Namespaces are named by inode, devices by namespace and ifindex: indexes alone collide between namespaces.
"""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

from netdiag.linux.address import InterfaceAddress
from netdiag.linux.kernel_settings import KernelSettings
from netdiag.linux.link import Link
from netdiag.linux.neighbour import BridgeVlan, FdbEntry, Neighbour
from netdiag.linux.netns import Netns
from netdiag.linux.process import Process
from netdiag.linux.route import Route, RoutingRule
from netdiag.linux.ruleset import Ruleset
from netdiag.linux.socket import Listener

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
