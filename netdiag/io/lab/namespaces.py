"""Namespaces of our own making: anonymous first, marked, named under /run/netns last, and removed by what they are.

A namespace is ours if its inode is the one that was written down and its loopback device bears our mark: inodes are
given out again. Sources: ip-netns(8), mount_namespaces(7), linux/nsfs.h.
"""

import ctypes
import os
import socket
import stat
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from enum import Enum

from pyroute2 import IPRoute
from pyroute2.netlink import NetlinkError

from netdiag.errors import InputError, MissingRight, NetdiagError
from netdiag.io.kernel.netns import NAMED, RIGHTS, Namespace, Vanished, open_namespace
from netdiag.linux.netns import NamedNamespace

FOLDER = f"/{NAMED}"
LOOPBACK = 1
_CLONE_NEWNET = 0x40000000
_MS_BIND, _MNT_DETACH = 0x1000, 2
_TIMES = 8


class Found(Enum):
    """What is under a name."""

    NOTHING = "nothing"
    OURS = "ours"
    UNFINISHED = "a name of ours without a namespace"
    FOREIGN = "something else"


class Fresh:
    """A namespace that nobody has named yet; it is gone when this is closed, unless it got a name."""

    def __init__(self, descriptor: int, netlink: socket.socket) -> None:
        self.descriptor = descriptor
        self.inode = os.fstat(descriptor).st_ino
        self.netlink = netlink

    def close(self) -> None:
        """Let go of it."""
        self.netlink.close()
        os.close(self.descriptor)


def fresh_namespace(mark: str) -> Fresh:
    """A new namespace whose loopback device bears the mark; MissingRight without the rights."""
    made: list[Fresh] = []
    errors: list[OSError] = []

    def make() -> None:
        try:
            _called("unshare", ctypes.c_int(_CLONE_NEWNET))
            descriptor = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
            netlink = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, socket.NETLINK_ROUTE)
            made.append(Fresh(descriptor, netlink))
        except OSError as error:
            errors.append(error)

    # The thread takes the way back out of its namespace by ending.
    thread = threading.Thread(target=make, name="new netns")
    thread.start()
    thread.join()
    if errors:
        if isinstance(errors[0], PermissionError):
            raise MissingRight(f"making a network namespace needs {RIGHTS}") from errors[0]
        raise NetdiagError(f"no network namespace can be made: {errors[0].strerror}") from errors[0]
    with asking(made[0].netlink) as routes:
        routes.link("set", index=LOOPBACK, ifalias=mark)
    return made[0]


def name_it(fresh: Fresh, name: str, mark: str) -> None:
    """Put it under a name that nobody has; InputError where somebody has it."""
    path = f"{FOLDER}/{name}"
    os.makedirs(FOLDER, mode=0o755, exist_ok=True)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o444)
    except FileExistsError as error:
        hint = f"look who made it; `ip netns delete {name}` removes it"
        raise InputError(
            "a namespace of that name is there, which is none of this lab's", where=name, hint=hint
        ) from error
    with open(descriptor, "wb") as file:
        file.write(mark.encode())
    try:
        source = f"/proc/self/fd/{fresh.descriptor}".encode()
        _called("mount", source, path.encode(), None, ctypes.c_ulong(_MS_BIND), None)
    except OSError as error:
        os.unlink(path)
        if isinstance(error, PermissionError):
            raise MissingRight("naming a network namespace needs CAP_SYS_ADMIN") from error
        raise NetdiagError(f"the namespace cannot be named: {error.strerror}", where=name) from error


def look(name: str, inode: int | None, mark: str) -> Found:
    """What is under a name now, compared with what was written down."""
    path = f"{FOLDER}/{name}"
    try:
        status = os.lstat(path)
    except OSError:
        return Found.NOTHING
    if not stat.S_ISREG(status.st_mode):
        return Found.FOREIGN
    if status.st_dev == os.lstat(FOLDER).st_dev:
        return Found.UNFINISHED if _content(path) in (b"", mark.encode()) else Found.FOREIGN
    if inode is None or status.st_ino != inode:
        return Found.FOREIGN
    try:
        with open_namespace(NamedNamespace(name=name)) as namespace, in_namespace(namespace) as routes:
            (loopback,) = routes.get_links(LOOPBACK)
            return Found.OURS if loopback.get_attr("IFLA_IFALIAS") == mark else Found.FOREIGN
    except (Vanished, NetlinkError, InputError, ValueError):
        return Found.FOREIGN


def take_name(name: str, inode: int | None, mark: str) -> None:
    """Take the name away from a namespace of ours, or remove an unfinished one; others stay."""
    path = f"{FOLDER}/{name}"
    # Whoever made /run/netns a mount point meanwhile has our mount twice, one over the other.
    for _ in range(_TIMES):
        if look(name, inode, mark) is not Found.OURS:
            break
        _called("umount2", path.encode(), ctypes.c_int(_MNT_DETACH))
    if look(name, inode, mark) is Found.UNFINISHED:
        with suppress(FileNotFoundError):
            os.unlink(path)


def in_namespace(namespace: Namespace) -> AbstractContextManager[IPRoute]:
    """Netlink questions in a namespace, on a socket that is made there by a thread of its own."""
    return asking(namespace.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, socket.NETLINK_ROUTE))


@contextmanager
def asking(netlink: socket.socket) -> Iterator[IPRoute]:
    """pyroute2 on a socket of ours, never on one that it would make in a namespace by itself; it closes the socket."""
    routes = IPRoute(fileno=netlink.detach())
    try:
        yield routes
    finally:
        routes.close()


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(4096)
    except OSError:
        return b"?"


def _called(name: str, *arguments: object) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
