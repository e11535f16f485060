"""Every network namespace of this machine, by all sources that know of any, opened where that can be done.

No single source knows all: processes hide namespaces that only a thread, a bind mount, an open file or a socket keeps.
A namespace is opened by the first way that leads to the very inode that was found; ways through the root of another
process are walked without touching what lies at their end, for that end belongs to a stranger.
"""

import os
import re
import resource
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from netdiag.io.kernel.calls import Calls, namespace_of_socket, namespace_of_tun
from netdiag.io.kernel.proc_scan import Found, ProcScan
from netdiag.linux.netns import Netns, NetnsSource
from netdiag.topology.inventory import Unread

_NAMED = (b"/run/netns/", b"/var/run/netns/")
_THROUGH_A_ROOT = re.compile(rb"/proc/\d+/root\b")
_SPARE_DESCRIPTORS = 128


@dataclass(slots=True, kw_only=True)
class Namespaces:
    """The namespaces found, by inode, and those of them that are open; to be closed."""

    found: Mapping[int, Found]
    device: int
    """That of nsfs: an inode alone may be that of a stranger's file."""
    descriptors: dict[int, int] = field(default_factory=dict)
    tuns: dict[tuple[int, str], tuple[int, ...]] = field(default_factory=dict)
    """The processes that hold a tun or tap device, by the inode of its namespace and its name."""
    gone: set[int] = field(default_factory=set)
    """Those that ended between being found and being opened."""
    unread: list[Unread] = field(default_factory=list)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of every namespace."""
        for descriptor in self.descriptors.values():
            os.close(descriptor)
        self.descriptors.clear()


def open_namespaces(scan: ProcScan, calls: Calls) -> Namespaces:
    """Those that the pass over /proc has found, and those that only the kernel and its sockets know of."""
    spaces = Namespaces(found=scan.found, device=scan.device)
    try:
        _of_sockets(scan, calls, spaces)
        _of_tuns(scan, calls, spaces)
        _listed(scan, calls, spaces)
        _raise_limit(len(scan.found))
        for inode, found in scan.found.items():
            if inode not in spaces.descriptors:
                _open(found, spaces)
    except BaseException:
        spaces.close()
        raise
    return spaces


def describe(found: Found, cookie: int | None) -> Netns:
    """What is told of a namespace."""
    own = [path for path, seen_by in found.mounts.items() if seen_by is None]
    named = {path[len(folder) :] for path in own for folder in _NAMED if path.startswith(folder)}
    return Netns(
        inode=found.inode,
        cookie=cookie,
        names=tuple(sorted(_text(name) for name in named if b"/" not in name)),
        mounts=tuple(
            _text(path) if seen_by is None else f"{_text(path)} (seen by process {seen_by})"
            for path, seen_by in found.mounts.items()
        ),
        pids=tuple(found.pids),
        process_count=found.process_count,
        sources=tuple(source for source in NetnsSource if source in found.sources),
    )


def _of_sockets(scan: ProcScan, calls: Calls, spaces: Namespaces) -> None:
    """A namespace that a socket keeps, and perhaps nothing else; asked once for each cookie."""
    held: dict[int, list[int]] = {}
    for pid, descriptor in scan.sockets.values():
        held.setdefault(pid, []).append(descriptor)
    known: set[int] = set()
    for pid, descriptors in held.items():
        for taken in _taken(calls, pid, descriptors, spaces):
            try:
                cookie = calls.cookie(taken)
                if cookie is not None and cookie in known:
                    continue
                namespace = namespace_of_socket(taken)
            except OSError:
                # not a socket any more, or one of a namespace that is not ours to look into
                continue
            finally:
                os.close(taken)
            if cookie is not None:
                known.add(cookie)
            _keep(scan, spaces, namespace, NetnsSource.SOCKET)


def _of_tuns(scan: ProcScan, calls: Calls, spaces: Namespaces) -> None:
    """Who holds which device: one that was moved is in another namespace than its holder."""
    for tun in scan.tuns:
        inode = scan.netns.get(tun.pid)
        for taken in _taken(calls, tun.pid, [tun.descriptor], spaces):
            with suppress(OSError):
                namespace = namespace_of_tun(taken)
                inode = os.fstat(namespace).st_ino
                _keep(scan, spaces, namespace, None)
            os.close(taken)
        if inode is not None:
            holders = spaces.tuns.get((inode, tun.ifname), ())
            spaces.tuns[inode, tun.ifname] = tuple(sorted({*holders, tun.pid}))


def _taken(calls: Calls, pid: int, descriptors: list[int], spaces: Namespaces) -> Iterator[int]:
    """What a process has open, one after another; the caller closes each."""
    try:
        process = os.pidfd_open(pid)
    except OSError:
        return
    try:
        for descriptor in descriptors:
            try:
                taken = calls.take_descriptor(process, descriptor)
            except PermissionError:
                spaces.unread.append(Unread(what=f"sockets of process {pid}", because="not permitted"))
                return
            except OSError:
                continue
            yield taken
    finally:
        os.close(process)


def _listed(scan: ProcScan, calls: Calls, spaces: Namespaces) -> None:
    # before Linux 6.19, or without the right to see more than what /proc tells
    with suppress(OSError):
        for namespace in calls.list_namespaces():
            _keep(scan, spaces, namespace, NetnsSource.LISTNS)


def _keep(scan: ProcScan, spaces: Namespaces, namespace: int, source: NetnsSource | None) -> None:
    """Note an open namespace; it stays open where there is no other way into it."""
    inode = os.fstat(namespace).st_ino
    found = scan.at(inode)
    if source is not None:
        found.add(source, None)
    if found.ways or inode in spaces.descriptors:
        os.close(namespace)
    else:
        spaces.descriptors[inode] = namespace


def _open(found: Found, spaces: Namespaces) -> None:
    reason = ""
    for way in found.ways:
        try:
            descriptor = _opened(way, (spaces.device, found.inode))
        except (FileNotFoundError, ProcessLookupError):
            continue
        except OSError as error:
            reason = os.strerror(error.errno or 0).lower()
            continue
        if descriptor is not None:
            spaces.descriptors[found.inode] = descriptor
            return
    if not reason:
        spaces.gone.add(found.inode)
    spaces.unread.append(Unread(what=f"net:[{found.inode}]", because=reason or "it ended while it was looked for"))


def _opened(way: bytes, meant: tuple[int, int]) -> int | None:
    """The namespace at the end of a way; None where something else is there by now."""
    if _THROUGH_A_ROOT.match(way):
        # What is mounted there may have been replaced by a device or a pipe, which opening would disturb.
        place = os.open(way, os.O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            if _identity(place) != meant:
                return None
            return _checked(os.open(f"/proc/self/fd/{place}", os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), meant)
        finally:
            os.close(place)
    return _checked(os.open(way, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), meant)


def _identity(descriptor: int) -> tuple[int, int]:
    stat = os.fstat(descriptor)
    return stat.st_dev, stat.st_ino


def _checked(descriptor: int, meant: tuple[int, int]) -> int | None:
    if _identity(descriptor) == meant:
        return descriptor
    os.close(descriptor)
    return None


def _raise_limit(count: int) -> None:
    """Each namespace is held open while it is read, by a descriptor of this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = count + _SPARE_DESCRIPTORS
    if needed > soft != resource.RLIM_INFINITY:
        with suppress(OSError, ValueError):
            resource.setrlimit(
                resource.RLIMIT_NOFILE, (needed if hard == resource.RLIM_INFINITY else min(needed, hard), hard)
            )


def _text(name: bytes) -> str:
    return name.decode("utf-8", "backslashreplace")
