"""Reads what the kernel of this machine has: every network namespace, with everything in it.

One pass over /proc, then one thread that enters namespace after namespace and asks over netlink. Nothing is executed,
nothing is changed, and whatever cannot be read becomes an `Unread` in the inventory: with fewer rights there is less of
it, down to the own namespace, but never an error.
"""

import gc
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from netdiag.errors import NetdiagError
from netdiag.io.kernel.child_process import ChildProcess, possible
from netdiag.io.kernel.namespace_facts import FactReader, Facts, leads_elsewhere
from netdiag.io.kernel.namespaces import Calls, Namespaces, describe, open_namespaces, run_in_thread
from netdiag.io.kernel.netlink import ROUTE, Channel
from netdiag.io.kernel.proc_scan import ProcScan, proxies, read_process, scan_proc
from netdiag.linux.netlink.links import decode_nsid, request_nsid
from netdiag.linux.netlink.messages import Malformed
from netdiag.linux.procfs import Process
from netdiag.topology.inventory import Inventory, LinkEnds, LinkId, NamespaceFacts, Unread, resolve_ends

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
        for facts in read.values():
            _close(facts)
    namespaces = {inode: _facts(facts, spaces, ends) for inode, facts in read.items()}
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
) -> dict[int, Facts]:
    """All of them; of many, every second one by a process of its own, which takes half the time."""
    reader = FactReader(calls, scan.socket_pids, scan.own)
    if len(wanted) < _MANY or not possible():
        return run_in_thread(lambda: _read_all(wanted, reader, spaces, calls, unread))
    mine, others = wanted[0::2], wanted[1::2]

    def work() -> tuple[dict[int, Facts], list[Unread]]:
        missing: list[Unread] = []
        found = _read_all(others, reader, spaces, calls, missing)
        for facts in found.values():
            _close(facts)
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
) -> dict[int, Facts]:
    """By the thread that enters them; the own one comes first, which needs no entering and no rights."""
    read: dict[int, Facts] = {}
    for inode in wanted:
        try:
            if inode != reader.own:
                calls.enter(spaces.descriptors[inode])
        except OSError as error:
            reason = "entering it needs CAP_SYS_ADMIN" if isinstance(error, PermissionError) else "it cannot be entered"
            unread.append(Unread(what=f"net:[{inode}]", because=reason))
            continue
        read[inode] = reader.read(inode)
    return read


def _reopen(found: Iterable[Facts], spaces: Namespaces, calls: Calls) -> None:
    """A channel for further questions in each namespace that the other process has read."""
    for facts in found:
        if leads_elsewhere(facts.links):
            with suppress(OSError, NetdiagError):
                calls.enter(spaces.descriptors[facts.inode])
                facts.channel = Channel(ROUTE)


def _close(facts: Facts) -> None:
    if facts.channel is not None:
        facts.channel.close()
        facts.channel = None


def _ends(read: Mapping[int, Facts], spaces: Namespaces, closed: Iterable[int]) -> LinkEnds:
    """Where devices lead to. Asking for a number assigns none, and needs no entering."""

    def ask(viewer: int, candidate: int) -> int | None:
        channel, descriptor = read[viewer].channel, spaces.descriptors.get(candidate)
        if channel is None or descriptor is None:
            return None
        try:
            return decode_nsid(channel.ask(request_nsid(descriptor))[1])
        except (NetdiagError, Malformed):
            return None

    return resolve_ends({inode: facts.links for inode, facts in read.items()}, closed, ask)


def _facts(facts: Facts, spaces: Namespaces, ends: LinkEnds) -> NamespaceFacts:
    inode = facts.inode
    return NamespaceFacts(
        netns=describe(spaces.found[inode], facts.cookie),
        links=facts.links,
        addresses=facts.addresses,
        routes=facts.routes,
        rules=facts.rules,
        neighbours=facts.neighbours,
        fdb=facts.fdb,
        vlans=facts.vlans,
        listeners=facts.listeners,
        ruleset=facts.ruleset,
        settings=facts.settings,
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
        because = "this process is in a PID namespace of its own, in which other processes cannot be seen"
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
