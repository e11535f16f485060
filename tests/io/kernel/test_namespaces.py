"""Every network namespace, by whatever keeps it: found, opened, entered."""

import contextlib
import ctypes
import errno
import gc
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from netdiag.errors import InputError, MissingRight, NetdiagError
from netdiag.io.engine.live_deployment import host_addresses
from netdiag.io.kernel.namespaces import (
    Calls,
    Namespaces,
    describe,
    enter,
    entrances,
    namespace_of_socket,
    namespace_of_tun,
    open_namespaces,
    run_in_thread,
)
from netdiag.io.kernel.netns import (
    Namespace,
    Vanished,
    is_process_of,
    open_each,
    open_namespace,
    same_namespace_as,
    stock,
    visit,
)
from netdiag.io.kernel.proc_scan import Found, ProcScan, scan_proc
from netdiag.linux.netns import NamedNamespace, Netns, NetnsSource, OwnNamespace, ProcessNamespace
from netdiag.topology.inventory import Inventory, NamespaceFacts
from tests.io.namespaces import FAR, NEAR, Pair, joined_namespaces, needs_root
from tests.tools import tool


@pytest.fixture
def dweller(pair: Pair) -> Iterator[int]:
    """A process in the far namespace."""
    process = subprocess.Popen(["nsenter", f"--net=/run/netns/{pair.far}", "sleep", "60"])
    try:
        while Path(f"/proc/{process.pid}/comm").read_text() != "sleep\n":
            pass
        yield process.pid
    finally:
        process.kill()
        process.wait()


def test_a_socket_made_in_a_namespace_stays_there(pair: Pair) -> None:
    with open_namespace(NamedNamespace(name=pair.near)) as namespace:
        made = namespace.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with made:
        made.bind((NEAR, 0))
        made.connect((FAR, 9))
        assert made.getsockname()[0] == NEAR
    with pytest.raises(OSError, match="Cannot assign"), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ours:
        ours.bind((NEAR, 0))


def test_by_process(pair: Pair, dweller: int) -> None:
    with open_namespace(ProcessNamespace(pid=dweller)) as namespace:
        assert host_addresses(namespace, frozenset()) == (FAR,)
        assert "::1" in namespace.ipv6


def test_no_thread_and_no_descriptor_is_left(pair: Pair) -> None:
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        with open_namespace(NamedNamespace(name=pair.near)) as namespace:
            namespace.socket(socket.AF_INET, socket.SOCK_STREAM).close()
    assert not any(thread.name == "netns" for thread in threading.enumerate())
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_process_that_is_not_the_containers(dweller: int) -> None:
    descriptors = len(os.listdir("/proc/self/fd"))
    with pytest.raises(Vanished, match="not a process of the container"):
        open_namespace(ProcessNamespace(pid=dweller, container_id="0" * 64))
    assert len(os.listdir("/proc/self/fd")) == descriptors
    assert not is_process_of(dweller, "0" * 64)


def test_a_process_that_is_gone() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    with pytest.raises(Vanished):
        open_namespace(ProcessNamespace(pid=process.pid))
    assert not is_process_of(process.pid, "0" * 64)


def here() -> tuple[str, ...]:
    return tuple(sorted(name for _, name in socket.if_nameindex()))


def test_several_are_opened_and_visited_together(pair: Pair, dweller: int) -> None:
    before = sorted(os.listdir("/proc/self/fd")), here()
    near, far = NamedNamespace(name=pair.near), ProcessNamespace(pid=dweller)
    wrong = ProcessNamespace(pid=dweller, container_id="0" * 64)
    found = open_each([near, OwnNamespace(), wrong, far, NamedNamespace(name="netdiag-typo")])
    one, own, vanished, other, unknown = found
    assert (type(vanished), type(unknown)) == (Vanished, InputError)
    for opened, reached in ((one, NEAR), (other, FAR)):
        assert isinstance(opened, Namespace)
        assert "::1" in opened.ipv6
        with opened, opened.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
            made.bind((reached, 0))
    assert isinstance(own, Namespace)
    with own, open_namespace(OwnNamespace()) as alone:
        assert own.ipv6 == alone.ipv6

    def work() -> int:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
            made.bind((FAR, 0))
        return made.type

    first, second, third = visit([near, far, wrong], work)
    assert isinstance(first, OSError)
    assert second == socket.SOCK_DGRAM
    assert isinstance(third, Vanished)
    assert (sorted(os.listdir("/proc/self/fd")), here()) == before


def test_many_sockets_are_made_in_few_visits(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_namespace(NamedNamespace(name=pair.near)) as namespace:
        visits: list[threading.Thread] = []
        start = threading.Thread.start

        def seen(thread: threading.Thread) -> None:
            visits.append(thread)
            start(thread)

        monkeypatch.setattr(threading.Thread, "start", seen)
        made = [namespace.socket(socket.AF_INET, socket.SOCK_STREAM) for _ in range(4 + 8 + 16 + 32 + 32)]
        assert len(visits) == 5
        assert len({one.fileno() for one in made}) == len(made)
        for one in made:
            one.close()
    with open_namespace(NamedNamespace(name=pair.near)) as near, open_namespace(OwnNamespace()) as own:
        stock([near, own], socket.SOCK_STREAM, 3)
        visits.clear()
        made = [near.socket(socket.AF_INET, socket.SOCK_STREAM) for _ in range(3)]
        assert visits == []
        for one in made:
            with one:
                one.bind((NEAR, 0))


def test_an_unknown_name_is_an_error_and_makes_nothing() -> None:
    with pytest.raises(InputError, match="no namespace has that name"):
        open_namespace(NamedNamespace(name="netdiag-typo"))
    assert not Path("/run/netns/netdiag-typo").exists()


@pytest.mark.parametrize("name", ["", ".", "..", "../../proc/1/ns/net", "a/b", "a\0b"])
def test_a_name_is_no_path(name: str) -> None:
    with pytest.raises(InputError):
        open_namespace(NamedNamespace(name=name))


def test_a_file_that_is_no_namespace(pair: Pair) -> None:
    path = Path("/run/netns", f"{pair.near}-file")
    path.touch()
    try:
        with pytest.raises(NetdiagError, match="cannot be entered"):
            open_namespace(NamedNamespace(name=path.name))
    finally:
        path.unlink()


def test_which_processes_share_our_namespace(dweller: int) -> None:
    assert same_namespace_as(os.getpid())
    assert not same_namespace_as(dweller)


def test_our_own_needs_no_thread() -> None:
    with open_namespace(OwnNamespace()) as namespace:
        assert namespace.run(threading.get_ident) == threading.get_ident()


def test_without_rights_it_says_which(pair: Pair, dweller: int) -> None:
    needs_root()
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        outcome = 0
        for entrance in (ProcessNamespace(pid=dweller), NamedNamespace(name=pair.near)):
            try:
                open_namespace(entrance)
                outcome = 1
            except MissingRight as error:
                outcome = outcome or int("CAP_SYS_ADMIN and CAP_SYS_PTRACE" not in str(error))
        # The view of /proc/PID/net needs no rights.
        os._exit(outcome or int(not same_namespace_as(os.getpid())))
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


_PROGRAM = """
import ctypes, json, os, socket, sys, threading
NEWNS, NEWNET, BIND, PRIVATE = 0x20000, 0x40000000, 0x1000, 0x44000
libc = ctypes.CDLL(None, use_errno=True)
kept, inodes, end = [], {}, threading.Event()

def checked(result):
    if result:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

def elsewhere(name, keep, stay=False):
    ready = threading.Event()
    def work():
        checked(libc.unshare(NEWNET))
        inodes[name] = os.stat("/proc/thread-self/ns/net").st_ino
        kept.append(keep())
        ready.set()
        if stay:
            end.wait()
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    ready.wait(20)
    if not stay:
        thread.join()

def mounted():
    place = os.fsencode(sys.argv[1])
    open(place, "w").close()
    checked(libc.mount(b"/proc/thread-self/ns/net", place, None, BIND, None))

checked(libc.unshare(NEWNS))
checked(libc.mount(b"none", b"/", None, PRIVATE, None))
elsewhere("thread", lambda: None, stay=True)
elsewhere("descriptor", lambda: os.open("/proc/thread-self/ns/net", os.O_RDONLY))
elsewhere("socket", lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
elsewhere("bind mount", mounted)
print(json.dumps(inodes), flush=True)
sys.stdin.read()
"""
HOSTILE = "a b\\\n\x1b[31m"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hideouts:
    """The process, its namespaces by what keeps them, and the file that one is mounted on."""

    pid: int
    inodes: dict[str, int]
    mount: Path


@contextlib.contextmanager
def hidden_namespaces(folder: Path) -> Iterator[Hideouts]:
    """Kept for the block."""
    needs_root()
    mount = folder / HOSTILE
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, str(mount)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        try:
            assert process.stdout is not None
            yield Hideouts(pid=process.pid, inodes=json.loads(process.stdout.readline()), mount=mount)
        finally:
            process.kill()


def test_work_apart_gives_its_result_and_its_errors_and_ends_its_thread() -> None:
    before = threading.active_count()
    assert run_in_thread(lambda: threading.current_thread() is threading.main_thread()) is False
    with pytest.raises(ZeroDivisionError):
        run_in_thread(lambda: 1 / 0)
    assert threading.active_count() == before


def test_a_socket_tells_the_namespace_it_was_made_in_wherever_it_is_asked() -> None:
    calls = Calls()

    def look(name: str) -> tuple[int, int | None]:
        descriptor = os.open(f"/run/netns/{name}", os.O_RDONLY)
        try:
            calls.enter(descriptor)
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as made:
                namespace = namespace_of_socket(made.fileno())
                inode = os.fstat(namespace).st_ino
                os.close(namespace)
                return inode, calls.cookie(made.fileno())
        finally:
            os.close(descriptor)

    with joined_namespaces() as pair:
        own = os.stat("/proc/self/ns/net").st_ino
        for name in (pair.near, pair.far):
            found = run_in_thread(lambda name=name: look(name))  # type: ignore[misc]
            assert found[0] == os.stat(f"/run/netns/{name}").st_ino != own
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as here:
            assert calls.cookie(here.fileno()) != found[1]


def test_what_is_no_namespace_cannot_be_entered() -> None:
    with open("/dev/null", "rb") as file, pytest.raises(OSError, match="Invalid argument"):
        Calls().enter(file.fileno())


def test_what_is_no_socket_and_no_tun_has_no_namespace() -> None:
    with open("/dev/null", "rb") as file:
        assert Calls().cookie(file.fileno()) is None
        for ask in (namespace_of_socket, namespace_of_tun):
            with pytest.raises(OSError, match=r"ioctl|Inappropriate"):
                ask(file.fileno())


def test_a_descriptor_is_taken_without_its_owner_noticing() -> None:
    calls = Calls()
    process = os.pidfd_open(os.getpid())
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as made:
            taken = calls.take_descriptor(process, made.fileno())
            assert os.fstat(taken).st_ino == os.fstat(made.fileno()).st_ino
            os.close(taken)
            assert made.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE) == socket.SOCK_DGRAM
        with pytest.raises(OSError, match=os.strerror(errno.EBADF)):
            calls.take_descriptor(process, 1_000_000)
    finally:
        os.close(process)


class KernelWithList:
    """The part of a C library that listns needs: 300 namespaces with ids from 5, a page of 256 at a time."""

    def __init__(self) -> None:
        self.ids = list(range(5, 305))
        self.handles: list[int] = []

    def syscall(self, number: ctypes.c_long, request: bytes, room: "ctypes.Array[ctypes.c_uint64]", *_: object) -> int:
        last = int.from_bytes(bytes(request)[8:16], "little")
        left = [one for one in self.ids if one > last][: len(room)]
        for place, one in enumerate(left):
            room[place] = one
        if left:
            return len(left)
        ctypes.set_errno(errno.ENOENT)
        return -1

    def open_by_handle_at(self, root: ctypes.c_int, handle: bytes, flags: ctypes.c_int) -> int:
        self.handles.append(int.from_bytes(bytes(handle)[8:16], "little"))
        # one that ends between the two calls cannot be opened
        return -1 if self.handles[-1] == 7 else self.handles[-1]


def test_namespaces_are_listed_page_by_page() -> None:
    calls, kernel = Calls(), KernelWithList()
    calls._c = kernel  # type: ignore[assignment]
    assert list(calls.list_namespaces()) == [one for one in kernel.ids if one != 7]
    assert kernel.handles == kernel.ids


def test_a_kernel_without_the_list_says_so_or_gives_namespaces() -> None:
    found: list[str] = []
    with contextlib.suppress(OSError):
        for descriptor in Calls().list_namespaces():
            found.append(os.readlink(f"/proc/self/fd/{descriptor}"))
            os.close(descriptor)
    assert all(target.startswith("net:[") for target in found)


# Whoever else reads the machine meanwhile holds every namespace open.
alone = pytest.mark.alone


@pytest.fixture
def hidden(tmp_path: Path) -> Iterator[Hideouts]:
    with hidden_namespaces(tmp_path) as hideouts:
        yield hideouts


@alone
def test_each_is_found_opened_and_told_by_its_sources(hidden: Hideouts) -> None:
    before = set(os.listdir("/proc/self/fd"))
    scan = scan_proc()
    with open_namespaces(scan, Calls()) as spaces:
        for kept_by, inode in hidden.inodes.items():
            assert os.fstat(spaces.descriptors[inode]).st_ino == inode, kept_by
        found = {kept_by: describe(spaces.found[inode], None) for kept_by, inode in hidden.inodes.items()}
    assert {
        kept_by: [source for source in netns.sources if source is not NetnsSource.LISTNS]
        for kept_by, netns in found.items()
    } == {
        "thread": [NetnsSource.THREAD],
        "descriptor": [NetnsSource.DESCRIPTOR],
        "socket": [NetnsSource.SOCKET],
        "bind mount": [NetnsSource.BIND_MOUNT],
    }
    assert found["bind mount"].mounts == (f"{hidden.mount} (seen by process {hidden.pid})",)
    assert set(os.listdir("/proc/self/fd")) == before


@alone
def test_ip_netns_and_lsns_know_them_by_the_same_names_and_processes() -> None:
    with joined_namespaces() as pair, _process_in(pair.near) as pid:
        scan = scan_proc()
        with open_namespaces(scan, Calls()) as spaces:
            ours = {inode: describe(found, None) for inode, found in spaces.found.items()}
        named = {name: os.stat(f"/run/netns/{name}").st_ino for name in (pair.near, pair.far)}
        listed = _lsns()
    for name, inode in named.items():
        assert ours[inode].names == (name,)
        assert f"/run/netns/{name}" in ours[inode].mounts
    near, far = (ours[inode] for inode in named.values())
    assert (near.pids, near.process_count) == ((pid,), 1)
    assert (far.pids, far.process_count) == ((), 0)
    assert listed[near.inode] == 1
    assert scan.own in listed


@contextlib.contextmanager
def _process_in(name: str) -> Iterator[int]:
    program = "print(flush=True); input()"
    command = ["nsenter", f"--net=/run/netns/{name}", sys.executable, "-c", program]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process.pid
        process.communicate(b"\n")


def _lsns() -> dict[int, int]:
    """Number of processes by inode."""
    done = subprocess.run(
        [tool("lsns"), "-t", "net", "-n", "-r", "-o", "NS,NPROCS"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return {int(inode): int(count) for inode, count in (line.split()[:2] for line in done.stdout.splitlines())}


def test_of_the_ways_to_a_namespace_a_few_are_kept() -> None:
    found = Found(inode=1)
    for number in range(1000):
        found.add(NetnsSource.DESCRIPTOR, b"/proc/%d/fd/3" % number)
    found.add(NetnsSource.LISTNS, None)
    assert found.ways[0] == b"/proc/0/fd/3"
    assert len(found.ways) < 100
    assert found.sources == {NetnsSource.DESCRIPTOR, NetnsSource.LISTNS}


@alone
def test_a_way_that_leads_elsewhere_by_now_is_not_taken(tmp_path: Path) -> None:
    """A pipe would block whoever opens it, and another namespace would be a wrong answer."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    own = os.stat("/proc/self/ns/net")
    root = f"/proc/{os.getpid()}/root".encode()
    ways = [root + bytes(pipe), b"/proc/self/ns/net", root + bytes(tmp_path / "nothing")]
    scan = ProcScan(own=own.st_ino, device=own.st_dev)
    scan.found[1] = Found(inode=1, ways=ways)
    scan.found[own.st_ino] = Found(inode=own.st_ino, ways=[ways[0], b"/proc/self/ns/mnt", ways[1]])
    with open_namespaces(scan, Calls()) as spaces:
        assert set(spaces.descriptors) - {own.st_ino} == _by_list(spaces)
        assert spaces.gone == {1}
    assert [(one.what, one.because) for one in spaces.unread] == [("net:[1]", "it ended during the search")]


def _by_list(spaces: Namespaces) -> set[int]:
    """Those that a kernel with listns(2) tells of beside."""
    return {inode for inode, found in spaces.found.items() if NetnsSource.LISTNS in found.sources} - {
        os.stat("/proc/self/ns/net").st_ino
    }


@alone
@pytest.mark.parametrize("path", [b"/run/netns/a\xff", b"/var/run/netns/a\xff"])
def test_names_are_those_of_ip_netns(path: bytes) -> None:
    mounts = {path: None, b"/run/netns/x/y": None, b"/run/docker/netns/default": None, b"/run/netns/other": 17}
    found = Found(inode=5, mounts=dict(mounts), pids=[3, 4], process_count=2, sources={NetnsSource.BIND_MOUNT})
    netns = describe(found, 77)
    assert netns.names == ("a\\xff",)
    assert netns.mounts[2:] == ("/run/docker/netns/default", "/run/netns/other (seen by process 17)")
    assert (netns.cookie, netns.pids, netns.process_count) == (77, (3, 4), 2)


@alone
def test_more_namespaces_than_files_may_be_open_raise_the_limit() -> None:
    """In a process of its own, for the limit is everybody's."""
    program = (
        "import resource\n"
        "from netdiag.io.kernel.namespaces import _raise_limit\n"
        "hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))\n"
        "_raise_limit(100)\n"
        "first = resource.getrlimit(resource.RLIMIT_NOFILE)[0]\n"
        "_raise_limit(10**9)\n"
        "print(first, resource.getrlimit(resource.RLIMIT_NOFILE)[0] == hard)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["228", "True"]


OWN = os.stat("/proc/self/ns/net").st_ino


def inventory(netns: Netns, own: int = OWN) -> Inventory:
    return Inventory(namespaces={netns.inode: NamespaceFacts(netns=netns)}, own=own)


def test_the_surest_way_first() -> None:
    netns = Netns(inode=1, pids=(7, 8), names=("x",))
    assert list(entrances(netns, own=True)) == [
        OwnNamespace(),
        ProcessNamespace(pid=7),
        ProcessNamespace(pid=8),
        NamedNamespace(name="x"),
    ]


def test_our_own_needs_no_rights() -> None:
    with enter(inventory(Netns(inode=OWN)), OWN) as opened:
        assert opened.run(lambda: os.stat("/proc/thread-self/ns/net").st_ino) == OWN


def test_another_than_the_one_that_was_meant_is_not_entered() -> None:
    with pytest.raises(NetdiagError):
        enter(inventory(Netns(inode=1, pids=(os.getpid(),)), own=2), 1)
    with pytest.raises(NetdiagError, match="cannot enter"):
        enter(inventory(Netns(inode=1, pids=(4_000_000,)), own=2), 1)
    with pytest.raises(NetdiagError, match="cannot enter"):
        enter(inventory(Netns(inode=1)), 5)
