"""Routes and routing policy rules as rtnetlink(7) tells them (linux/rtnetlink.h, linux/fib_rules.h)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from netdiag.linux.link import Detail


@dataclass(frozen=True, slots=True, kw_only=True)
class NextHop:
    """One way of a route: a gateway ("" for none, the target is on the link itself) and a device by ifindex."""

    gateway: str
    ifindex: int | None
    weight: int = 1
    flags: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One route. `family` is 4 or 6; `destination` "0.0.0.0/0" or "::/0" for the default route.

    `type` is the word of `ip route` ("unicast", "local", "broadcast", "unreachable", "blackhole", "prohibit", ...),
    `scope` 0 global, 253 link, 254 host. `source` is the preferred source address, "" for none. `metrics` hold
    RTA_METRICS by the names of `ip` ("mtu", "advmss"), `details` further facts by its names (pref, expires, nhid,
    encap).
    """

    family: int
    destination: str
    table: int
    type: str
    scope: int
    protocol: int
    priority: int = 0
    source: str = ""
    from_prefix: str = ""
    tos: int = 0
    hops: tuple[NextHop, ...] = ()
    metrics: Mapping[str, Detail] = field(default_factory=dict)
    flags: int = 0
    details: Mapping[str, Detail] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingRule:
    """One rule of `ip rule`: the lowest `priority` is asked first. `action` is its word ("lookup", "unreachable").

    `details` are further conditions under the names of `ip -j rule` (fwmark, iif, oif, ipproto, sport, ...).
    """

    family: int
    priority: int
    action: str
    table: int
    from_prefix: str = ""
    to_prefix: str = ""
    details: Mapping[str, Detail] = field(default_factory=dict)
