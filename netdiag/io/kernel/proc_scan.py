"""One pass over /proc: who is in which network namespace, and who holds which socket, tun device or namespace open.

Everything else that needs to know about processes asks this, for a pass costs as much as a look at forty namespaces.
Processes end while it goes on; that is no error. One that may not be looked into is noted, and the rest goes on.
Nothing here is opened but files of /proc that have no effect of their own.
"""

import os
from dataclasses import dataclass, field

from netdiag.errors import NetdiagError
from netdiag.linux.netns import NetnsSource
from netdiag.linux.procfs import (
    Process,
    ProcessStat,
    parse_container_id,
    parse_mounted_container_id,
    parse_namespace_mounts,
    parse_stat,
    parse_tun_name,
)
from netdiag.topology.inventory import Unread

PIDS_KEPT = 1000
_WAYS_KEPT = 8
_MOUNTS_KEPT = 1000
_DESCRIPTORS_READ = 250_000
_FILE_LIMIT = 16 * 1024 * 1024
_PROXY = "docker-proxy"
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FIRST = -1


@dataclass(slots=True, kw_only=True)
class Found:
    """A network namespace in the course of the pass. `ways` are paths by which it may be opened, best first."""

    inode: int
    sources: set[NetnsSource] = field(default_factory=set)
    ways: list[bytes] = field(default_factory=list)
    pids: list[int] = field(default_factory=list)
    process_count: int = 0
    mounts: dict[bytes, int | None] = field(default_factory=dict)
    """Paths of bind mounts, and the process that sees them where this one does not."""
    descriptor: int | None = None
    """Where there is no way to open it again."""

    def add(self, source: NetnsSource, way: bytes | None) -> None:
        """Note that it was found once more."""
        self.sources.add(source)
        if way is not None and len(self.ways) < _WAYS_KEPT:
            self.ways.append(way)


@dataclass(slots=True, kw_only=True)
class HeldTun:
    """An open /dev/net/tun: which process holds it as which descriptor, and the name of the device."""

    pid: int
    descriptor: int
    ifname: str


@dataclass(slots=True, kw_only=True)
class ProcScan:
    """What one pass found. `sockets` leads from a socket's inode to one process and descriptor that hold it."""

    own: int
    device: int
    """That of the file system of namespaces."""
    found: dict[int, Found] = field(default_factory=dict)
    stats: dict[int, ProcessStat] = field(default_factory=dict)
    netns: dict[int, int | None] = field(default_factory=dict)
    socket_pids: dict[int, tuple[int, ...]] = field(default_factory=dict)
    sockets: dict[int, tuple[int, int]] = field(default_factory=dict)
    tuns: list[HeldTun] = field(default_factory=list)
    containers: dict[int, str] = field(default_factory=dict)
    """Container ids by mount namespace."""
    unread: list[Unread] = field(default_factory=list)

    def at(self, inode: int) -> Found:
        """That namespace, newly noted where it was not known."""
        found = self.found.get(inode)
        if found is None:
            found = self.found[inode] = Found(inode=inode)
        return found


def scan_proc(root: str = "/proc") -> ProcScan:
    """Everything that the processes of this machine tell; `root` is where their file system is mounted."""
    own_pid = os.getpid()
    try:
        present = os.stat(f"{root}/self/ns/net")
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise NetdiagError(f"{root}/self/ns/net cannot be read: {reason}", hint="mount /proc") from error
    scan = ProcScan(own=present.st_ino, device=present.st_dev)
    scan.at(scan.own).add(NetnsSource.OWN, f"{root}/self/ns/net".encode())
    seen_mounts: set[tuple[int, str]] = set()
    # this process first: what it sees itself is named without saying who sees it
    others = sorted(int(name) for name in os.listdir(root) if name.isdecimal() and int(name) != own_pid)
    for pid in (own_pid, *others):
        _process(scan, root, pid, seen_mounts, own=pid == own_pid)
    for found in scan.found.values():
        found.pids.sort()
    if 1 not in scan.stats:
        scan.unread.append(Unread(what="processes of other users", because="/proc hides them (hidepid)"))
    return scan


# Other states change all the time.
_STOPPED = ("T", "t")


def read_process(scan: ProcScan, pid: int, root: str = "/proc") -> Process | None:
    """What is kept of one process; None for one that the pass has not seen."""
    stat = scan.stats.get(pid)
    if stat is None:
        return None
    container = parse_container_id(_text(f"{root}/{pid}/cgroup"))
    if not container and scan.containers:
        container = scan.containers.get(_inode_of(f"{root}/{pid}/ns/mnt"), "")
    return Process(
        pid=pid,
        comm=stat.comm,
        started=stat.started,
        netns=scan.netns.get(pid),
        parent=stat.parent,
        container_id=container,
        argv=_arguments(f"{root}/{pid}/cmdline") if stat.comm == _PROXY else (),
        state=stat.state if stat.state in _STOPPED else "",
    )


def proxies(scan: ProcScan) -> tuple[int, ...]:
    """The processes that relay published ports for an engine."""
    return tuple(pid for pid, stat in scan.stats.items() if stat.comm == _PROXY)


def _process(scan: ProcScan, root: str, pid: int, seen_mounts: set[tuple[int, str]], *, own: bool) -> None:
    base = f"{root}/{pid}"
    try:
        # The directory stays that of this very process, even if its number is given to another.
        directory = os.open(base, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        stat = parse_stat(_read(directory, "stat", 4096))
        if stat is None:
            return
        scan.stats[pid] = stat
        inode = _netns(scan, directory, pid, base)
        alive = ""
        if stat.threads > 1:
            alive = _threads(scan, directory, base, inode, leader_gone=inode is None)
        if stat.kernel_thread or (inode is None and not alive):
            return
        _descriptors(scan, directory, pid, f"{alive}fd" if inode is None else "fd")
        _mounts(scan, directory, pid, seen_mounts, own=own)
    except (FileNotFoundError, ProcessLookupError):
        return
    except OSError as error:
        scan.unread.append(Unread(what=f"process {pid}", because=(os.strerror(error.errno or 0)).lower()))
    finally:
        os.close(directory)


def _netns(scan: ProcScan, directory: int, pid: int, base: str) -> int | None:
    """The namespace of a process; None where it has none any more."""
    scan.netns[pid] = None
    try:
        inode = os.stat("ns/net", dir_fd=directory).st_ino
    except (FileNotFoundError, ProcessLookupError):
        return None
    scan.netns[pid] = inode
    found = scan.at(inode)
    found.add(NetnsSource.PROCESS, f"{base}/ns/net".encode())
    found.process_count += 1
    if len(found.pids) < PIDS_KEPT:
        found.pids.append(pid)
    return inode


def _threads(scan: ProcScan, directory: int, base: str, inode: int | None, *, leader_gone: bool) -> str:
    """Note the namespaces of its threads; gives the folder of one that lives, where the first has ended."""
    alive = ""
    for task in _entries(directory, "task"):
        try:
            of_task = os.stat(f"task/{task}/ns/net", dir_fd=directory).st_ino
        except (FileNotFoundError, ProcessLookupError):
            continue
        if leader_gone:
            alive = f"task/{task}/"
        if of_task != inode:
            scan.at(of_task).add(NetnsSource.THREAD, f"{base}/task/{task}/ns/net".encode())
    return alive


def _descriptors(scan: ProcScan, directory: int, pid: int, folder: str) -> None:
    holder = os.open(folder, _DIRECTORY, dir_fd=directory)
    readlink, socket_pids, sockets = os.readlink, scan.socket_pids, scan.sockets
    try:
        names = os.listdir(holder)
        if len(names) > _DESCRIPTORS_READ:
            scan.unread.append(Unread(what=f"process {pid}", because=f"it holds {len(names)} files open"))
        for name in names[:_DESCRIPTORS_READ]:
            try:
                target = readlink(name, dir_fd=holder)
            except FileNotFoundError:
                continue
            if target.startswith("socket:["):
                inode = int(target[8:-1])
                holders = socket_pids.get(inode)
                if holders is None:
                    socket_pids[inode] = (pid,)
                    sockets[inode] = (pid, int(name))
                elif holders[_FIRST] != pid:
                    socket_pids[inode] = (*holders, pid)
            elif target.startswith("net:["):
                way = f"/proc/{pid}/{folder}/{name}".encode()
                scan.at(int(target[5:-1])).add(NetnsSource.DESCRIPTOR, way)
            elif target == "/dev/net/tun":
                ifname = parse_tun_name(_read(directory, f"fdinfo/{name}", 4096))
                if ifname:
                    scan.tuns.append(HeldTun(pid=pid, descriptor=int(name), ifname=ifname))
    finally:
        os.close(holder)


def _mounts(scan: ProcScan, directory: int, pid: int, seen: set[tuple[int, str]], *, own: bool) -> None:
    """The bind mounts of namespaces, asked once of each view of the file system."""
    namespace = os.stat("ns/mnt", dir_fd=directory).st_ino
    view = (namespace, os.readlink("root", dir_fd=directory))
    if view in seen:
        return
    seen.add(view)
    mountinfo = _read(directory, "mountinfo", _FILE_LIMIT)
    container = parse_mounted_container_id(mountinfo)
    if container:
        scan.containers[namespace] = container
    for mount in parse_namespace_mounts(mountinfo):
        found = scan.at(mount.inode)
        if mount.path in found.mounts or len(found.mounts) >= _MOUNTS_KEPT:
            continue
        found.mounts[mount.path] = None if own else pid
        found.add(NetnsSource.BIND_MOUNT, b"/proc/%d/root%s" % (pid, mount.path))


def _entries(directory: int, folder: str) -> list[str]:
    holder = os.open(folder, _DIRECTORY, dir_fd=directory)
    try:
        return os.listdir(holder)
    finally:
        os.close(holder)


def _read(directory: int | None, path: str, limit: int) -> bytes:
    """A file of /proc, which gives at most a page or so at a time."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=directory)
    try:
        read = os.read(descriptor, min(limit, 65536))
        if len(read) < 2048 or len(read) >= limit:
            return read
        pieces = [read]
        left = limit - len(read)
        while left > 0 and (more := os.read(descriptor, min(left, 1 << 20))):
            pieces.append(more)
            left -= len(more)
        return b"".join(pieces)
    finally:
        os.close(descriptor)


def _text(path: str) -> str:
    try:
        return _read(None, path, 1 << 20).decode("utf-8", "backslashreplace")
    except OSError:
        return ""


def _arguments(path: str) -> tuple[str, ...]:
    return tuple(_text(path).split("\0")[:-1])


def _inode_of(path: str) -> int:
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0
