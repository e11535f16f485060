"""A way through the kernel, hop by hop, and where it ends."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from netdiag.linux.link import Detail
from netdiag.linux.ruleset import RuleAddress
from netdiag.topology.inventory import LinkId


class End(StrEnum):
    """How a connection attempt ends; the value is the word users see."""

    CONNECTED = "connected"
    REFUSED = "refused"
    DROPPED = "dropped"
    NO_ROUTE = "no-route"
    NO_NEIGHBOUR = "no-neighbour"
    UNRESOLVED = "unresolved"
    CLOSED = "closed"
    UNKNOWN = "unknown"


class HopKind(StrEnum):
    """What decides at a hop; the value is the word users see."""

    RESOLVER = "resolver"
    ROUTE = "route"
    NEIGHBOUR = "neighbour"
    LINK = "link"
    BRIDGE = "bridge"
    FILTER = "filter"
    NAT = "nat"
    CONNTRACK = "conntrack"
    PROXY = "proxy"
    SOCKET = "socket"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """One decision: where (`netns` by inode, `link` where a device is meant), what was decided in one line.

    `rules` are the packet filter rules that decided, the last one first; `details` further facts for JSON.
    """

    kind: HopKind
    netns: int
    what: str
    link: LinkId | None = None
    rules: tuple[RuleAddress, ...] = ()
    details: Mapping[str, Detail] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """The way of a connection's first packet from a namespace to an address, and of the answer back.

    `destination` is as it was asked for, a name or an address; `address` what it resolved to, "" for nothing. `because`
    tells the end in one line: the rule, the missing route, the socket's program. `errno` is what the client's program
    is told ("ECONNREFUSED"), "" for success and for silence. `target` is the namespace where the way ends and `pids`
    who answers there.
    """

    source: int
    destination: str
    port: int
    address: str
    hops: tuple[Hop, ...]
    end: End
    because: str
    errno: str = ""
    target: int | None = None
    pids: tuple[int, ...] = ()
