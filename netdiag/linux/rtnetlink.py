"""Links, addresses, neighbours, routes and their rules in the words of rtnetlink(7), and the sysctls beside them.

Sources: linux/if_link.h, linux/if.h, linux/if_addr.h, linux/neighbour.h, linux/if_bridge.h, linux/rtnetlink.h,
linux/fib_rules.h.
"""

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import field

from netdiag.values import dataclass

IFF_UP, IFF_LOOPBACK, IFF_RUNNING, IFF_PROMISC, IFF_LOWER_UP = 0x1, 0x8, 0x40, 0x100, 0x10000

# What JSON can hold, and nothing else: numbers, words, truth values, lists and tables of these.
Detail = None | bool | int | float | str | list["Detail"] | dict[str, "Detail"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One device.

    `kind` is IFLA_INFO_KIND ("veth", "bridge"), empty for hardware and loopback. `type` is ARPHRD_*. `master` is the
    ifindex of the bridge, bond or VRF that it is a port of. `link` is IFLA_LINK: the peer of a veth, the parent of a
    vlan or macvlan, and of a vxlan the device below; None also where the kernel says 0, or the device itself, and means
    none. `link_netnsid` numbers the namespace of `link` as
    this namespace does, None where it is this one; -1 is one that has no number here. `details` are the kind's own
    facts (IFLA_INFO_DATA), `port` those as a port of its master (IFLA_INFO_SLAVE_DATA), both under the names that
    `ip -d -j link` gives them; `port_kind` is IFLA_INFO_SLAVE_KIND. `operstate` is the word of `ip` ("UP", "UNKNOWN",
    "LOWERLAYERDOWN"). `address` is the hardware address, empty where there is none. `undecoded` are attributes whose
    meaning is not known here, by number, as hexadecimal digits of at most 64 bytes.
    """

    ifindex: int
    ifname: str
    kind: str = ""
    type: int = 1
    flags: int = 0
    mtu: int = 0
    address: str = ""
    broadcast: str = ""
    operstate: str = "UNKNOWN"
    master: int | None = None
    link: int | None = None
    link_netnsid: int | None = None
    altnames: tuple[str, ...] = ()
    alias: str = ""
    qdisc: str = ""
    txqlen: int = 0
    group: int = 0
    details: Mapping[str, Detail] = field(default_factory=dict)
    port_kind: str = ""
    port: Mapping[str, Detail] = field(default_factory=dict)
    undecoded: Mapping[str, str] = field(default_factory=dict)

    @property
    def up(self) -> bool:
        """Whether somebody has switched it on."""
        return bool(self.flags & IFF_UP)

    @property
    def carrier(self) -> bool:
        """Whether the other end of the line is there."""
        return bool(self.flags & IFF_LOWER_UP)

    @property
    def loopback(self) -> bool:
        """Whether it is lo."""
        return bool(self.flags & IFF_LOOPBACK)


@dataclass(frozen=True, slots=True, kw_only=True)
class InterfaceAddress:
    """An address with its prefix length on a device; `scope` 0 is global, 253 link, 254 host.

    `peer` is the other end of a point-to-point link, "" for none; `flags` are IFA_F_* (linux/if_addr.h).
    """

    ifindex: int
    address: str
    prefix_length: int
    scope: int
    peer: str = ""
    broadcast: str = ""
    label: str = ""
    flags: int = 0


def outside_addresses(
    links: Iterable[Link], addresses: Iterable[InterfaceAddress], *, bridges: frozenset[str] = frozenset()
) -> tuple[str, ...]:
    """The addresses by which other machines may know this one, IPv4 first.

    Left out: loopback and link-local addresses, devices that are down, and `bridges`, whose addresses are the
    gateways of container networks.
    """
    usable = {link.ifindex for link in links if link.up and not link.loopback and link.ifname not in bridges}
    found = [ipaddress.ip_address(a.address) for a in addresses if a.ifindex in usable]
    outside = [a for a in dict.fromkeys(found) if not a.is_loopback and not a.is_link_local]
    return tuple(str(a) for a in sorted(outside, key=lambda a: a.version))


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """What ARP or neighbour discovery has found: `states` are the words of `ip neigh` ("REACHABLE", "FAILED")."""

    ifindex: int
    address: str
    lladdr: str
    states: tuple[str, ...]
    router: bool = False
    proxy: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FdbEntry:
    """Behind which port of a bridge or vxlan a hardware address is; `vlan` and `destination` where they apply.

    `ifindex` is the device of the entry, `master` the bridge. `state` and `flags` are the words of `bridge -j fdb`.
    `details` are port, vni, src_vni, nhid and via (a device by index) of vxlan entries that have them.
    """

    ifindex: int
    lladdr: str
    master: int | None = None
    vlan: int | None = None
    destination: str = ""
    state: str = ""
    flags: tuple[str, ...] = ()
    details: Mapping[str, Detail] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgeVlan:
    """One VLAN, or a range of them, that a port of a filtering bridge takes part in; `flags` as `bridge -j vlan`."""

    ifindex: int
    vlan: int
    vlan_end: int
    flags: tuple[str, ...] = ()


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


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelSettings:
    """None is a switch that this kernel does not have (bridge_nf_* without br_netfilter), or that was not read.

    `ipv6_disabled` is whether IPv6 is off on every device. `route_localnet` and `rp_filter` are by interface name,
    "all" among them. bridge_nf_*, `local_port_range` and "all" of `route_localnet` are read in the own namespace, and
    where there is a bridge or a packet filter; elsewhere nothing depends on them. Sources:
    Documentation/networking/ip-sysctl.rst, net/bridge/br_netfilter_hooks.c.
    """

    ip_forward: bool | None = None
    ipv6_forwarding: bool | None = None
    ipv6_disabled: bool | None = None
    bridge_nf_call_iptables: bool | None = None
    bridge_nf_call_ip6tables: bool | None = None
    route_localnet: tuple[tuple[str, int], ...] = ()
    rp_filter: tuple[tuple[str, int], ...] = ()
    local_port_range: tuple[int, int] | None = None
