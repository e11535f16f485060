"""Opening network namespaces and making sockets in them.

setns(2) moves one thread for good, so work in foreign namespaces gets a thread of its own that ends with it; the
sockets made there keep the namespace and are used from anywhere. On a busy machine a thread waits for milliseconds
until it runs, so one thread goes through many namespaces, or makes many sockets. Nothing is executed, and nothing is
changed, in a namespace. Entering needs CAP_SYS_ADMIN, opening another user's /proc/PID/ns/net CAP_SYS_PTRACE, too.
"""

import ctypes
import os
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Self, TypeVar, assert_never

from netdiag.errors import InputError, MissingRight, NetdiagError
from netdiag.linux.netns import NamedNamespace, NamespaceId, OwnNamespace, ProcessNamespace
from netdiag.linux.procfs import parse_if_inet6, proves_container

RIGHTS = "CAP_SYS_ADMIN and CAP_SYS_PTRACE"
NAMED = "run/netns"
_CLONE_NEWNET = 0x40000000
# Sockets that are made at a time: few where few are needed, twice as many with every time.
_FEWEST, _MOST = 4, 32
_PROC_LIMIT = 4 * 1024 * 1024

T = TypeVar("T")
Socket = socket.socket


class Vanished(NetdiagError):
    """The process or namespace is gone, or is not the one that was meant."""


class Namespace:
    """An open network namespace, and the root directory whose /etc a client there would read."""

    def __init__(self, *, descriptor: int | None, root: int, ipv6: tuple[str, ...], etc: Sequence[str]) -> None:
        self._descriptor = descriptor
        self._stock: dict[tuple[int, int, int], list[socket.socket]] = {}
        self._next: dict[tuple[int, int, int], int] = {}
        self.root = root
        self.ipv6 = ipv6
        # Folders below `root` to look for hosts and resolv.conf in, first come first served.
        self.etc = tuple(etc)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the namespace; sockets handed out live on."""
        for stock in self._stock.values():
            for spare in stock:
                spare.close()
        self._stock.clear()
        for descriptor in (self._descriptor, self.root):
            if descriptor is not None and descriptor >= 0:
                os.close(descriptor)
        self._descriptor, self.root = None, -1

    def socket(self, family: socket.AddressFamily, kind: socket.SocketKind, protocol: int = 0) -> socket.socket:
        """A socket in this namespace, not blocking.

        Several are made at a time: entering takes a thread, which costs more than a socket.
        """
        key = (family, kind, protocol)
        stock = self._stock.setdefault(key, [])
        if not stock:
            many = 1 if self._descriptor is None else self._next.get(key, _FEWEST)
            self._next[key] = min(2 * many, _MOST)
            stock += self.run(lambda: _sockets(many, family, kind, protocol))
        taken = stock.pop()
        taken.setblocking(False)
        return taken

    def run(self, work: Callable[[], T]) -> T:
        """What `work` gives in this namespace, in a thread of its own unless the namespace is ours anyway."""
        if self._descriptor is None:
            return work()
        (outcome,) = _in_each([self], work)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def keep(self, made: Sequence[Socket]) -> None:
        """Take sockets that were made in it, all of a kind, to hand them out."""
        for one in made:
            self._stock.setdefault((one.family, one.type, one.proto), []).append(one)

    @property
    def is_own(self) -> bool:
        """Whether it is the one of this process."""
        return self._descriptor is None

    def enter(self) -> None:
        """Move the calling thread there, for good; OSError where it may not."""
        assert self._descriptor is not None
        _setns(self._descriptor)


def open_namespace(entrance: NamespaceId) -> Namespace:
    """Open the namespace that is meant; MissingRight without the rights, Vanished when it is not there."""
    (found,) = open_each([entrance])
    if isinstance(found, NetdiagError):
        raise found
    return found


def open_each(entrances: Sequence[NamespaceId]) -> list[Namespace | NetdiagError]:
    """Open several; in place of one that cannot be opened, the error that `open_namespace` raises."""
    found = [_opened(entrance) for entrance in entrances]
    foreign = [one for one in found if isinstance(one, Namespace) and not one.is_own]
    for one, outcome in zip(foreign, _in_each(foreign, _own_if_inet6), strict=True):
        if isinstance(outcome, str):
            one.ipv6 = parse_if_inet6(outcome)
            continue
        one.close()
        if not isinstance(outcome, OSError):
            raise outcome
        number = found.index(one)
        found[number] = _translated(outcome, _where(entrances[number]))
    return found


def visit(entrances: Sequence[ProcessNamespace | NamedNamespace], work: Callable[[], T]) -> list[T | Exception]:
    """What `work` gives in each of them; in place of it, the error that it or entering ended with."""
    found = [_opened(entrance) for entrance in entrances]
    spaces = [one for one in found if isinstance(one, Namespace)]
    try:
        outcomes = iter(_in_each(spaces, work))
        return [next(outcomes) if isinstance(one, Namespace) else one for one in found]
    finally:
        for one in spaces:
            one.close()


def stock(spaces: Sequence[Namespace], kind: socket.SocketKind, many: int) -> None:
    """Make IPv4 sockets of a kind in all of them at once; what lacks is made when it is asked for."""
    foreign = [one for one in spaces if not one.is_own]
    for space, made in zip(foreign, _in_each(foreign, lambda: _sockets(many, socket.AF_INET, kind, 0)), strict=True):
        if isinstance(made, list):
            space.keep(made)


def same_namespace_as(pid: int) -> bool:
    """Whether a process is in our network namespace; needs no rights.

    A socket of ours is listed in the process's view of its namespace, /proc/PID/net, exactly if it is ours, too.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as probe:
        inode = str(os.fstat(probe.fileno()).st_ino)
        try:
            with open(f"/proc/{pid}/net/unix", encoding="ascii", errors="replace") as table:
                return any(inode in line.split() for line in table)
        except OSError:
            return False


def is_process_of(pid: int, container_id: str) -> bool:
    """Whether a local process is the container's; needs no rights."""
    try:
        directory = os.open(f"/proc/{pid}", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return _proves(directory, container_id)
    finally:
        os.close(directory)


def read_proc(pid: int, name: str) -> str:
    """The text of /proc/PID/name; empty where it cannot be read."""
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read(_PROC_LIMIT).decode("utf-8", errors="replace")
    except OSError:
        return ""


def _opened(entrance: NamespaceId) -> Namespace | NetdiagError:
    """Opened, but for the own one not entered yet; only with that, its IPv6 is known."""
    opened: list[int] = []
    try:
        match entrance:
            case OwnNamespace():
                return _own()
            case ProcessNamespace():
                return _of_process(entrance, opened)
            case NamedNamespace():
                return _named(entrance, opened)
            case _:
                assert_never(entrance)
    except (OSError, NetdiagError) as error:
        _close(opened)
        return error if isinstance(error, NetdiagError) else _translated(error, _where(entrance))


def _where(entrance: NamespaceId) -> str:
    match entrance:
        case OwnNamespace():
            return "this network namespace"
        case ProcessNamespace():
            return f"process {entrance.pid}"
        case NamedNamespace():
            return f"network namespace {entrance.name!r}"
        case _:
            assert_never(entrance)


def _own() -> Namespace:
    ipv6 = parse_if_inet6(_own_if_inet6())
    root = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    return Namespace(descriptor=None, root=root, ipv6=ipv6, etc=("etc",))


def _of_process(entrance: ProcessNamespace, opened: list[int]) -> Namespace:
    # The directory is the process's for as long as it is open, even if its number is given to another.
    directory = os.open(f"/proc/{entrance.pid}", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        opened.append(os.open("ns/net", os.O_RDONLY | os.O_CLOEXEC, dir_fd=directory))
        opened.append(os.open("root", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=directory))
        if entrance.container_id is not None and not _proves(directory, entrance.container_id):
            raise Vanished("it is not a process of the container", where=_where(entrance))
    finally:
        os.close(directory)
    return Namespace(descriptor=opened[0], root=opened[1], ipv6=(), etc=("etc",))


def _named(entrance: NamedNamespace, opened: list[int]) -> Namespace:
    where = _where(entrance)
    if not entrance.valid:
        raise InputError("not a name that `ip netns` can create", where=where)
    try:
        opened.append(os.open(f"/{NAMED}/{entrance.name}", os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK))
    except FileNotFoundError as error:
        raise InputError("no namespace has that name", where=where, hint="list them with `ip netns`") from error
    opened.append(os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC))
    etc = (f"etc/netns/{entrance.name}", "etc")
    return Namespace(descriptor=opened[0], root=opened[1], ipv6=(), etc=etc)


def _translated(error: OSError, where: str) -> NetdiagError:
    if isinstance(error, PermissionError):
        return MissingRight(f"entering its network needs {RIGHTS}", where=where)
    if isinstance(error, FileNotFoundError | ProcessLookupError):
        return Vanished("it is gone", where=where)
    return Vanished(f"its network cannot be entered: {os.strerror(error.errno or 0)}", where=where)


def _proves(directory: int, container_id: str) -> bool:
    return proves_container(
        container_id, cgroup=_read_at(directory, "cgroup"), mountinfo=_read_at(directory, "mountinfo")
    )


def _read_at(directory: int, name: str) -> str:
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_CLOEXEC, dir_fd=directory)
        with open(descriptor, "rb") as file:
            return file.read(_PROC_LIMIT).decode("utf-8", errors="replace")
    except OSError:
        return ""


def _own_if_inet6() -> str:
    # /proc/net is the view of the process's first thread; this thread may be somewhere else.
    try:
        with open("/proc/thread-self/net/if_inet6", encoding="ascii", errors="replace") as file:
            return file.read(_PROC_LIMIT)
    except OSError:
        return ""


def _in_each(spaces: Sequence[Namespace], work: Callable[[], T]) -> list[T | Exception]:
    """What `work` gives in each, or the error that it or entering ended with; one thread goes through all."""
    outcomes: list[T | Exception] = []
    ended: list[BaseException] = []

    def go() -> None:
        try:
            for space in spaces:
                try:
                    space.enter()
                    outcomes.append(work())
                except Exception as error:  # noqa: BLE001  # handed to the caller's thread
                    outcomes.append(error)
        except BaseException as error:  # noqa: BLE001  # handed to the caller's thread
            ended.append(error)

    if spaces:
        thread = threading.Thread(target=go, name="netns", daemon=True)
        thread.start()
        thread.join()
    if ended:
        raise ended[0]
    return outcomes


def _sockets(many: int, family: socket.AddressFamily, kind: socket.SocketKind, protocol: int) -> list[socket.socket]:
    """So many of the thread's namespace, or as many as it may have; OSError for none."""
    made = [socket.socket(family, kind, protocol)]
    with suppress(OSError):
        while len(made) < many:
            made.append(socket.socket(family, kind, protocol))
    return made


def _setns(descriptor: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(ctypes.c_int(descriptor), ctypes.c_int(_CLONE_NEWNET)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _close(descriptors: Sequence[int]) -> None:
    for descriptor in descriptors:
        with suppress(OSError):
            os.close(descriptor)
