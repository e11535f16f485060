"""Every network namespace of this machine, by all sources that know of any, opened where that can be done.

No single source knows all: processes hide namespaces that only a thread, a bind mount, an open file or a socket keeps.
A namespace is opened by the first way that leads to the very inode that was found; ways through the root of another
process are walked without touching what lies at their end, for that end belongs to a stranger.

setns(2) moves one thread for good. Whoever enters namespaces does it in a thread made for it, by
`run_in_thread`.
"""

import ctypes
import fcntl
import os
import re
import resource
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self, TypeVar

from netdiag.errors import MissingRight, NetdiagError
from netdiag.io.kernel.netns import Namespace, open_namespace
from netdiag.io.kernel.proc_scan import Found, ProcScan
from netdiag.linux.netns import NamedNamespace, NamespaceId, Netns, NetnsSource, OwnNamespace, ProcessNamespace
from netdiag.topology.inventory import Inventory, Unread

_CLONE_NEWNET = 0x40000000
# linux/sockios.h, asm-generic/socket.h, linux/if_tun.h
_SIOCGSKNS, _SOL_SOCKET, _SO_NETNS_COOKIE = 0x894C, 1, 71
_TUNGETDEVNETNS = 0x54E3
# asm-generic/unistd.h; the same on every architecture of today but Alpha
_PIDFD_GETFD, _LISTNS = 438, 470
_LISTED = 256
# struct ns_id_req of linux/nsfs.h, and the file handle of a namespace: id, type, inode
_ID_REQUEST = struct.Struct("=IIQIIQ")
_HANDLE = struct.Struct("=iiQII")
_NSFS_HANDLE_TYPE, _FD_NSFS_ROOT = 0xF1, -10003

T = TypeVar("T")
_NAMED = (b"/run/netns/", b"/var/run/netns/")
_THROUGH_A_ROOT = re.compile(rb"/proc/\d+/root\b")
_SPARE_DESCRIPTORS = 128
_MOST_PIDS = 8


class Calls:
    """The C library, opened once for all that is asked of it."""

    def __init__(self) -> None:
        self._c = ctypes.CDLL(None, use_errno=True)
        self._cookie = ctypes.c_uint64()
        self._length = ctypes.c_uint32()

    def enter(self, namespace: int) -> None:
        """Move the calling thread into the network namespace that is open as this descriptor."""
        self._checked(self._c.setns(ctypes.c_int(namespace), ctypes.c_int(_CLONE_NEWNET)))

    def take_descriptor(self, pidfd: int, descriptor: int) -> int:
        """A descriptor of our own for what another process has open (pidfd_getfd, Linux 5.6); it notices nothing."""
        number = self._c.syscall(
            ctypes.c_long(_PIDFD_GETFD), ctypes.c_int(pidfd), ctypes.c_int(descriptor), ctypes.c_uint(0)
        )
        return self._checked(number)

    def cookie(self, socket: int) -> int | None:
        """The cookie of the namespace in which a socket was made; None before Linux 5.14.

        Not by a socket object of Python's, which might set the flags that the socket shares with its owner.
        """
        self._length.value = 8
        failed = self._c.getsockopt(
            socket, _SOL_SOCKET, _SO_NETNS_COOKIE, ctypes.byref(self._cookie), ctypes.byref(self._length)
        )
        return None if failed else self._cookie.value

    def list_namespaces(self) -> Iterator[int]:
        """A descriptor for every active network namespace of the kernel (listns, Linux 6.19); OSError without it.

        The caller closes them. Sources: linux/nsfs.h, kernel/nscommon.c.
        """
        last = 0
        while True:
            request = ctypes.create_string_buffer(_ID_REQUEST.pack(_ID_REQUEST.size, 0, last, _CLONE_NEWNET, 0, 0))
            found = (ctypes.c_uint64 * _LISTED)()
            ctypes.set_errno(0)
            count = self._c.syscall(ctypes.c_long(_LISTNS), request, found, ctypes.c_size_t(_LISTED), ctypes.c_uint(0))
            if count < 0 and ctypes.get_errno() == 2:
                # ENOENT, not 0, says that there are no more
                return
            if self._checked(count) == 0:
                return
            for identity in found[:count]:
                handle = ctypes.create_string_buffer(_HANDLE.pack(16, _NSFS_HANDLE_TYPE, identity, 0, 0))
                descriptor = self._c.open_by_handle_at(
                    ctypes.c_int(_FD_NSFS_ROOT), handle, ctypes.c_int(os.O_RDONLY | os.O_CLOEXEC)
                )
                if descriptor >= 0:
                    yield descriptor
            last = found[count - 1]

    def _checked(self, result: int) -> int:
        if result < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        return result


def namespace_of_socket(socket: int) -> int:
    """The namespace in which a socket was made, opened; needs CAP_NET_ADMIN over it."""
    return fcntl.ioctl(socket, _SIOCGSKNS)


def namespace_of_tun(device: int) -> int:
    """The namespace in which the device of an open /dev/net/tun is now, opened (Linux 5.10)."""
    return fcntl.ioctl(device, _TUNGETDEVNETNS)


def run_in_thread(work: Callable[[], T]) -> T:
    """What `work` gives, in a thread of its own that ends with it; errors come out here."""
    results: list[T] = []
    errors: list[BaseException] = []

    def call() -> None:
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001  # handed to the caller's thread
            errors.append(error)

    thread = threading.Thread(target=call, name="namespaces", daemon=True)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


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
    spaces.unread.append(Unread(what=f"net:[{found.inode}]", because=reason or "it ended during the search"))


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


def enter(inventory: Inventory, inode: int) -> Namespace:
    """The open namespace; MissingRight without the rights, NetdiagError where there is no way in any more."""
    facts = inventory.namespaces.get(inode)
    refused: NetdiagError | None = None
    for entrance in entrances(facts.netns, own=inode == inventory.own) if facts is not None else ():
        try:
            opened = open_namespace(entrance)
        except MissingRight as error:
            refused = error
            continue
        except NetdiagError:
            continue
        if opened.run(_inode_here) == inode:
            return opened
        opened.close()
    raise refused or NetdiagError("netdiag cannot enter it: it has no process and no name", where=f"net:[{inode}]")


def entrances(netns: Netns, *, own: bool) -> Iterator[NamespaceId]:
    """The ways into a namespace, the surest first."""
    if own:
        yield OwnNamespace()
    for pid in netns.pids[:_MOST_PIDS]:
        yield ProcessNamespace(pid=pid)
    for name in netns.names:
        yield NamedNamespace(name=name)


def _inode_here() -> int:
    return os.stat("/proc/thread-self/ns/net").st_ino
