"""Everything in one network namespace, asked by the thread that is in it.

Each fact is asked for itself: one that the kernel does not tell is noted with its reason and the others are read.

Files of /proc/sys/net are read only where packets may be sent on or turned aside, for they cost more than everything
else: the kernel finds them the slower, the more namespaces there are. Other switches come with the devices.
"""

import errno
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from netdiag.errors import NetdiagError
from netdiag.io.kernel.namespaces import Calls
from netdiag.io.kernel.netlink import NETFILTER, ROUTE, SOCK_DIAG, Channel, Refused
from netdiag.io.kernel.packet_filter import read_ruleset
from netdiag.linux.netlink.addresses import (
    decode_address,
    decode_fdb_entry,
    decode_neighbour,
    request_addresses,
    request_fdb,
    request_neighbours,
    request_proxy_neighbours,
)
from netdiag.linux.netlink.links import (
    LinkSettings,
    decode_bridge_vlans,
    decode_link,
    decode_link_settings,
    decode_netconf,
    request_bridge_vlans,
    request_links,
    request_netconf,
)
from netdiag.linux.netlink.messages import Malformed
from netdiag.linux.netlink.routes import decode_route, decode_routing_rule, request_routes, request_routing_rules
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
from netdiag.linux.sockets import Listener, Protocol, decode_listener, request_listeners, request_tcp_listeners
from netdiag.topology.inventory import Unread

# By request and message: most of what one namespace says, byte for byte, others have said before.
Known = dict[bytes, dict[bytes, Any]]
_KNOWN_LIMIT = 20_000

T = TypeVar("T")
_NET = "/proc/sys/net/"
_ALL = "all"


@dataclass(slots=True, kw_only=True)
class Facts:
    """What was read in one namespace; `channel` is open for further questions where a device leads elsewhere."""

    inode: int
    cookie: int | None = None
    channel: Channel | None = None
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
    unread: list[Unread] = field(default_factory=list)


class FactReader:
    """Asks the same questions in one namespace after another."""

    def __init__(self, calls: Calls, holders: Mapping[int, tuple[int, ...]], own: int) -> None:
        """`holders` are the processes that hold a socket, by its inode; `own` is the namespace of this process."""
        self.own = own
        self._calls = calls
        self._holders = holders
        self._buffer = bytearray(256 * 1024)
        self._known: Known = {}
        self._links, self._vlans = request_links(), request_bridge_vlans()
        self._addresses, self._routes, self._rules = request_addresses(), request_routes(), request_routing_rules()
        self._neighbours, self._proxies = request_neighbours(), request_proxy_neighbours()
        self._fdb = request_fdb()
        self._listeners = (
            (request_tcp_listeners(), partial(decode_listener, protocol=Protocol.TCP)),
            *(
                (request_listeners(Protocol.UDP, family), partial(decode_listener, protocol=Protocol.UDP))
                for family in (4, 6)
            ),
        )

    def read(self, inode: int) -> Facts:
        """Everything in the namespace of the calling thread, which that inode names."""
        facts = Facts(inode=inode)
        self._of_filters(facts)
        self._of_devices(facts)
        self._of_sockets(facts)
        return facts

    def _of_devices(self, facts: Facts) -> None:
        try:
            channel = Channel(ROUTE, buffer=self._buffer)
        except NetdiagError as error:
            facts.unread.append(_unread("network", facts.inode, error.message))
            return
        try:
            facts.cookie = self._calls.cookie(channel.fileno())
            self._of_links(channel, facts)
            self._of_tables(channel, facts)
        except BaseException:
            channel.close()
            raise
        if leads_elsewhere(facts.links):
            facts.channel = channel
        else:
            channel.close()

    def _of_links(self, channel: Channel, facts: Facts) -> None:
        found = _read(channel, "links", self._links, _link, facts, self._known)
        facts.links = tuple(link for link, _ in found)
        bridges = any(link.kind == "bridge" or link.port_kind == "bridge" for link in facts.links)
        switches = [(link.ifname, switches) for link, switches in found]
        files = bridges or bool(facts.ruleset.tables) or facts.inode == self.own
        facts.settings = read_settings(channel, switches, files=files)
        if bridges:
            ranges = _read(channel, "VLANs", self._vlans, decode_bridge_vlans, facts, self._known)
            facts.vlans = tuple(vlan for several in ranges for vlan in several)

    def _of_tables(self, channel: Channel, facts: Facts) -> None:
        facts.addresses = tuple(_read(channel, "addresses", self._addresses, decode_address, facts, self._known))
        facts.routes = tuple(_read(channel, "routes", self._routes, decode_route, facts, self._known))
        facts.rules = tuple(_read(channel, "routing rules", self._rules, decode_routing_rule, facts, self._known))
        neighbours = _read(channel, "neighbours", self._neighbours, decode_neighbour, facts, self._known)
        proxies = _read(channel, "neighbour proxies", self._proxies, decode_neighbour, facts, self._known)
        facts.neighbours = (*neighbours, *proxies)
        facts.fdb = tuple(_read(channel, "forwarding entries", self._fdb, decode_fdb_entry, facts, self._known))

    def _of_sockets(self, facts: Facts) -> None:
        try:
            with Channel(SOCK_DIAG, buffer=self._buffer) as channel:
                facts.listeners = tuple(
                    replace(listener, pids=pids) if (pids := self._holders.get(listener.inode)) else listener
                    for request, decode in self._listeners
                    for listener in _read(channel, "listeners", request, decode, facts, self._known)
                )
        except NetdiagError as error:
            facts.unread.append(_unread("listeners", facts.inode, error.message))

    def _of_filters(self, facts: Facts) -> None:
        try:
            with Channel(NETFILTER, buffer=self._buffer) as channel:
                facts.ruleset = read_ruleset(channel)
        except NetdiagError as error:
            lacking = isinstance(error, Refused) and error.number == errno.EPROTONOSUPPORT
            unread = f"packet filters: {error.message}"
            facts.ruleset = read_ruleset(None) if lacking else Ruleset(unread=(unread,))


def leads_elsewhere(links: Iterable[Link]) -> bool:
    """Whether one of these devices has its other end in another namespace."""
    return any(link.link_netnsid is not None for link in links)


def _link(payload: bytes) -> tuple[Link, LinkSettings]:
    return decode_link(payload), decode_link_settings(payload)


def _read(
    channel: Channel, what: str, request: bytes, decode: Callable[[bytes], T | None], facts: Facts, known: Known
) -> list[T]:
    """The values of a dump; what is missing of them is noted."""
    try:
        answer = channel.payloads(request)
    except NetdiagError as error:
        facts.unread.append(_unread(what, facts.inode, error.message))
        return []
    if channel.interrupted:
        facts.unread.append(_unread(what, facts.inode, "they changed every time they were read"))
    same: dict[bytes, T | None] = known.setdefault(request, {})
    found: list[T] = []
    try:
        for payload in answer:
            try:
                value = same[payload]
            except KeyError:
                value = decode(payload)
                if len(same) < _KNOWN_LIMIT:
                    same[payload] = value
            if value is not None:
                found.append(value)
    except Malformed as error:
        facts.unread.append(_unread(what, facts.inode, f"not understood: {error}"))
    return found


def _unread(what: str, inode: int, because: str) -> Unread:
    return Unread(what=f"{what} of net:[{inode}]", because=because)


def read_settings(
    channel: Channel, devices: Sequence[tuple[str, LinkSettings]] = (), *, files: bool, net: str = _NET
) -> KernelSettings:
    """`devices` are names with their switches; `files` is whether to read those, too; `net` is their folder."""
    forward, rp_filter = _shared(channel, 4)
    forward6, _ = _shared(channel, 6)
    route_localnet = _number(net, "ipv4/conf/all/route_localnet") if files else None
    shared = ((_ALL, rp_filter), *((name, switches.rp_filter) for name, switches in devices))
    local = ((_ALL, route_localnet), *((name, switches.route_localnet) for name, switches in devices))
    disabled = [one.ipv6_disabled for _, one in devices if one.ipv6_disabled is not None]
    return KernelSettings(
        ip_forward=_switch(forward),
        ipv6_forwarding=_switch(forward6),
        ipv6_disabled=all(disabled) if disabled else None,
        bridge_nf_call_iptables=_switch(_number(net, "bridge/bridge-nf-call-iptables")) if files else None,
        bridge_nf_call_ip6tables=_switch(_number(net, "bridge/bridge-nf-call-ip6tables")) if files else None,
        rp_filter=tuple((name, value) for name, value in shared if value is not None),
        route_localnet=tuple((name, value) for name, value in local if value is not None),
        local_port_range=_range(net, "ipv4/ip_local_port_range") if files else None,
    )


def _shared(channel: Channel, family: int) -> tuple[int | None, int | None]:
    try:
        return decode_netconf(channel.ask(request_netconf(family))[1])
    except NetdiagError:
        # IPv6 that was never loaded has no switches
        return None, None


def _switch(value: int | None) -> bool | None:
    return None if value is None else value != 0


def _number(net: str, name: str) -> int | None:
    try:
        return int(_read_file(net + name))
    except (OSError, ValueError):
        return None


def _range(net: str, name: str) -> tuple[int, int] | None:
    try:
        first, last = _read_file(net + name).split()
        return int(first), int(last)
    except (OSError, ValueError):
        return None


def _read_file(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, 64)
    finally:
        os.close(descriptor)
