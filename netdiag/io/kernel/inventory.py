"""Reads what the kernel of this machine has: every network namespace, with everything in it.

One pass over /proc, then one thread that enters namespace after namespace and asks over netlink. Nothing is executed,
nothing is changed, and whatever cannot be read becomes an `Unread` in the inventory: with fewer rights there is less of
it, down to the own namespace, but never an error. Each fact is asked for itself: one that the kernel does not tell is
noted with its reason and the others are read.

Files of /proc/sys/net are read only where packets may be sent on or turned aside, for they cost more than everything
else: the kernel finds them the slower, the more namespaces there are. Other switches come with the devices.
"""

import errno
import gc
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from netdiag.errors import NetdiagError
from netdiag.io.kernel.child_process import ChildProcess, possible
from netdiag.io.kernel.namespaces import Calls, Namespaces, describe, open_namespaces, run_in_thread
from netdiag.io.kernel.netlink import NETFILTER, ROUTE, SOCK_DIAG, Channel, Refused
from netdiag.io.kernel.packet_filter import read_ruleset
from netdiag.io.kernel.proc_scan import ProcScan, proxies, read_process, scan_proc
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
    decode_nsid,
    request_bridge_vlans,
    request_links,
    request_netconf,
    request_nsid,
)
from netdiag.linux.netlink.messages import Malformed
from netdiag.linux.netlink.routes import decode_route, decode_routing_rule, request_routes, request_routing_rules
from netdiag.linux.netns import Netns
from netdiag.linux.procfs import Process
from netdiag.linux.rtnetlink import (
    KernelSettings,
    Link,
)
from netdiag.linux.ruleset import Ruleset
from netdiag.linux.sockets import Listener, Protocol, decode_listener, request_listeners, request_tcp_listeners
from netdiag.topology.inventory import Inventory, LinkEnds, LinkId, NamespaceFacts, Unread, resolve_ends

# By request and message: most of what one namespace says, byte for byte, others have said before.
Known = dict[bytes, dict[bytes, Any]]
_KNOWN_LIMIT = 20_000

T = TypeVar("T")
_NET = "/proc/sys/net/"
_ALL = "all"


@dataclass(slots=True, kw_only=True)
class Reading:
    """What was read in one namespace; `channel` is open for further questions where a device leads elsewhere."""

    facts: NamespaceFacts
    channel: Channel | None = None


class FactReader:
    """Asks the same questions in one namespace after another."""

    def __init__(self, calls: Calls, holders: Mapping[int, tuple[int, ...]], own: int) -> None:
        """`holders` are the processes that hold a socket, by its inode; `own` is the namespace of this process."""
        self.own = own
        self._calls = calls
        self._holders = holders
        self._buffer = bytearray(256 * 1024)
        self._known: Known = {}
        self._unread: list[Unread] = []
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

    def read(self, netns: Netns) -> Reading:
        """Everything in the namespace of the calling thread, which is the given one."""
        self._unread = []
        reading = Reading(facts=NamespaceFacts(netns=netns, ruleset=self._ruleset()))
        self._read_devices(reading)
        listeners = self._read_listeners(netns.inode)
        reading.facts = replace(reading.facts, listeners=listeners, unread=tuple(self._unread))
        return reading

    def _read_devices(self, reading: Reading) -> None:
        netns = reading.facts.netns
        try:
            channel = Channel(ROUTE, buffer=self._buffer)
        except NetdiagError as error:
            self._unread.append(_unread("network", netns.inode, error.message))
            return
        try:
            netns = replace(netns, cookie=self._calls.cookie(channel.fileno()))
            reading.facts = self._with_tables(channel, self._with_links(channel, replace(reading.facts, netns=netns)))
        except BaseException:
            channel.close()
            raise
        if leads_elsewhere(reading.facts.links):
            reading.channel = channel
        else:
            channel.close()

    def _with_links(self, channel: Channel, facts: NamespaceFacts) -> NamespaceFacts:
        inode = facts.netns.inode
        found = self._read(channel, "links", self._links, _link, inode)
        links = tuple(link for link, _ in found)
        bridges = any(link.kind == "bridge" or link.port_kind == "bridge" for link in links)
        switches = [(link.ifname, switches) for link, switches in found]
        files = bridges or bool(facts.ruleset.tables) or inode == self.own
        ranges = self._read(channel, "VLANs", self._vlans, decode_bridge_vlans, inode) if bridges else ()
        return replace(
            facts,
            links=links,
            vlans=tuple(vlan for several in ranges for vlan in several),
            settings=read_settings(channel, switches, files=files),
        )

    def _with_tables(self, channel: Channel, facts: NamespaceFacts) -> NamespaceFacts:
        inode = facts.netns.inode
        return replace(
            facts,
            addresses=tuple(self._read(channel, "addresses", self._addresses, decode_address, inode)),
            routes=tuple(self._read(channel, "routes", self._routes, decode_route, inode)),
            rules=tuple(self._read(channel, "routing rules", self._rules, decode_routing_rule, inode)),
            neighbours=(
                *self._read(channel, "neighbours", self._neighbours, decode_neighbour, inode),
                *self._read(channel, "neighbour proxies", self._proxies, decode_neighbour, inode),
            ),
            fdb=tuple(self._read(channel, "forwarding entries", self._fdb, decode_fdb_entry, inode)),
        )

    def _read_listeners(self, inode: int) -> tuple[Listener, ...]:
        try:
            with Channel(SOCK_DIAG, buffer=self._buffer) as channel:
                return tuple(
                    replace(listener, pids=pids) if (pids := self._holders.get(listener.inode)) else listener
                    for request, decode in self._listeners
                    for listener in self._read(channel, "listeners", request, decode, inode)
                )
        except NetdiagError as error:
            self._unread.append(_unread("listeners", inode, error.message))
            return ()

    def _ruleset(self) -> Ruleset:
        try:
            with Channel(NETFILTER, buffer=self._buffer) as channel:
                return read_ruleset(channel)
        except NetdiagError as error:
            lacking = isinstance(error, Refused) and error.number == errno.EPROTONOSUPPORT
            unread = f"packet filters: {error.message}"
            return read_ruleset(None) if lacking else Ruleset(unread=(unread,))

    def _read(
        self, channel: Channel, what: str, request: bytes, decode: Callable[[bytes], T | None], inode: int
    ) -> list[T]:
        """The values of a dump; what is missing of them is noted."""
        try:
            answer = channel.payloads(request)
        except NetdiagError as error:
            self._unread.append(_unread(what, inode, error.message))
            return []
        if channel.interrupted:
            self._unread.append(_unread(what, inode, "they changed every time they were read"))
        same: dict[bytes, T | None] = self._known.setdefault(request, {})
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
            self._unread.append(_unread(what, inode, f"not understood: {error}"))
        return found


def leads_elsewhere(links: Iterable[Link]) -> bool:
    """Whether one of these devices has its other end in another namespace."""
    return any(link.link_netnsid is not None for link in links)


def _link(payload: bytes) -> tuple[Link, LinkSettings]:
    return decode_link(payload), decode_link_settings(payload)


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


_INITIAL_PID_NAMESPACE = 0xEFFFFFFC
"""PROC_PID_INIT_INO of linux/proc_ns.h."""
_RIGHTS = {"CAP_SYS_ADMIN": 21, "CAP_SYS_PTRACE": 19, "CAP_NET_ADMIN": 12}
_PIDS_DESCRIBED = 3
_KTHREADD = 2
_MANY = 40


def read_inventory(*, only: Collection[int] | None = None) -> Inventory:
    """Everything; with `only`, the inodes of namespaces, the others are named but not looked into."""
    with _without_collection():
        calls = Calls()
        scan = scan_proc()
        with open_namespaces(scan, calls) as spaces:
            return _inventory(scan, spaces, calls, only)


def _inventory(scan: ProcScan, spaces: Namespaces, calls: Calls, only: Collection[int] | None) -> Inventory:
    wanted = [inode for inode in sorted(spaces.descriptors) if only is None or inode in only]
    wanted.sort(key=lambda inode: inode != scan.own)
    unread = [*scan.unread, *spaces.unread]
    read = _read_both(wanted, scan, spaces, calls, unread)
    try:
        closed = [inode for inode in scan.found if inode not in read and inode not in spaces.gone]
        ends = _ends(read, spaces, closed)
    finally:
        for reading in read.values():
            _close(reading)
    namespaces = {inode: _with_ends(reading.facts, ends) for inode, reading in read.items()}
    for inode in sorted(closed):
        namespaces[inode] = NamespaceFacts(netns=describe(scan.found[inode], None), entered=False)
    lacking = _lacking()
    unread += lacking
    tuns = _tun_owners(namespaces, spaces)
    return Inventory(
        namespaces=namespaces,
        own=scan.own,
        root=_root(scan),
        processes=_processes(scan, namespaces.values(), tuns),
        tun_owners=tuns,
        unread=tuple(unread),
        complete=not lacking and all(inode in namespaces and namespaces[inode].entered for inode in wanted),
        hostname=os.uname().nodename,
        kernel=os.uname().release,
    )


def _read_both(
    wanted: Sequence[int], scan: ProcScan, spaces: Namespaces, calls: Calls, unread: list[Unread]
) -> dict[int, Reading]:
    """All of them; of many, every second one by a process of its own, which takes half the time."""
    reader = FactReader(calls, scan.socket_pids, scan.own)
    if len(wanted) < _MANY or not possible():
        return run_in_thread(lambda: _read_all(wanted, reader, spaces, calls, unread))
    mine, others = wanted[0::2], wanted[1::2]

    def work() -> tuple[dict[int, Reading], list[Unread]]:
        missing: list[Unread] = []
        found = _read_all(others, reader, spaces, calls, missing)
        for reading in found.values():
            _close(reading)
        return found, missing

    with ChildProcess(work) as beside:
        read = run_in_thread(lambda: _read_all(mine, reader, spaces, calls, unread))
        given = beside.result()
    if given is None:
        return read | run_in_thread(lambda: _read_all(others, reader, spaces, calls, unread))
    found, missing = given
    unread += missing
    run_in_thread(lambda: _reopen(found.values(), spaces, calls))
    return {inode: found.get(inode) or read[inode] for inode in wanted if inode in found or inode in read}


def _read_all(
    wanted: Iterable[int], reader: FactReader, spaces: Namespaces, calls: Calls, unread: list[Unread]
) -> dict[int, Reading]:
    """By the thread that enters them; the own one comes first, which needs no entering and no rights."""
    read: dict[int, Reading] = {}
    for inode in wanted:
        try:
            if inode != reader.own:
                calls.enter(spaces.descriptors[inode])
        except OSError as error:
            reason = "entering it needs CAP_SYS_ADMIN" if isinstance(error, PermissionError) else "it cannot be entered"
            unread.append(Unread(what=f"net:[{inode}]", because=reason))
            continue
        read[inode] = reader.read(describe(spaces.found[inode], None))
    return read


def _reopen(found: Iterable[Reading], spaces: Namespaces, calls: Calls) -> None:
    """A channel for further questions in each namespace that the other process has read."""
    for reading in found:
        if leads_elsewhere(reading.facts.links):
            with suppress(OSError, NetdiagError):
                calls.enter(spaces.descriptors[reading.facts.netns.inode])
                reading.channel = Channel(ROUTE)


def _close(reading: Reading) -> None:
    if reading.channel is not None:
        reading.channel.close()
        reading.channel = None


def _ends(read: Mapping[int, Reading], spaces: Namespaces, closed: Iterable[int]) -> LinkEnds:
    """Where devices lead to. Asking for a number assigns none, and needs no entering."""

    def ask(viewer: int, candidate: int) -> int | None:
        channel, descriptor = read[viewer].channel, spaces.descriptors.get(candidate)
        if channel is None or descriptor is None:
            return None
        try:
            return decode_nsid(channel.ask(request_nsid(descriptor))[1])
        except (NetdiagError, Malformed):
            return None

    return resolve_ends({inode: reading.facts.links for inode, reading in read.items()}, closed, ask)


def _with_ends(facts: NamespaceFacts, ends: LinkEnds) -> NamespaceFacts:
    inode = facts.netns.inode
    return replace(
        facts,
        nsids=ends.nsids.get(inode, {}),
        ends=ends.ends.get(inode, {}),
        unread=(*facts.unread, *ends.unread.get(inode, ())),
    )


def _processes(
    scan: ProcScan, namespaces: Iterable[NamespaceFacts], tuns: Mapping[LinkId, tuple[int, ...]]
) -> dict[int, Process]:
    pids = {pid for holders in tuns.values() for pid in holders}
    pids.update(proxies(scan))
    for facts in namespaces:
        pids.update(facts.netns.pids[:_PIDS_DESCRIBED])
        pids.update(pid for listener in facts.listeners for pid in listener.pids)
    found = ((pid, read_process(scan, pid)) for pid in sorted(pids))
    return {pid: process for pid, process in found if process is not None}


def _tun_owners(namespaces: Mapping[int, NamespaceFacts], spaces: Namespaces) -> dict[LinkId, tuple[int, ...]]:
    found: dict[LinkId, tuple[int, ...]] = {}
    for (inode, ifname), pids in spaces.tuns.items():
        facts = namespaces.get(inode)
        for link in facts.links if facts is not None else ():
            if link.ifname == ifname and link.kind == "tun":
                found[LinkId(netns=inode, ifindex=link.ifindex)] = pids
    return found


def _root(scan: ProcScan) -> int | None:
    """That of pid 1; where even root may not look at it, that of the kernel's own threads, which never leave it."""
    found = scan.netns.get(1)
    kthreadd = scan.stats.get(_KTHREADD)
    if found is None and kthreadd is not None and kthreadd.kernel_thread:
        return scan.netns.get(_KTHREADD)
    return found


def _lacking() -> list[Unread]:
    """Why this process cannot see everything, if it cannot."""
    found: list[Unread] = []
    with open("/proc/self/status", "rb") as status:
        effective = next((int(line.split()[1], 16) for line in status if line.startswith(b"CapEff:")), 0)
    missing = [name for name, bit in _RIGHTS.items() if not effective >> bit & 1]
    if missing:
        found.append(Unread(what="other namespaces and processes", because=f"this needs {', '.join(missing)}"))
    if os.stat("/proc/self/ns/pid").st_ino != _INITIAL_PID_NAMESPACE:
        because = "this process is in a PID namespace of its own, which hides other processes"
        found.append(Unread(what="processes outside", because=because))
    return found


@contextmanager
def _without_collection() -> Iterator[None]:
    """Tens of thousands of values are made, none of which is garbage: looking for it would take as long again.

    What the first reading has made is not looked through afterwards, either; it goes when nobody refers to it.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            if not gc.get_freeze_count():
                gc.freeze()
            gc.enable()
