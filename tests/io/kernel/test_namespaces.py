"""Every network namespace, by whatever keeps it."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from netdiag.io.kernel.calls import Calls
from netdiag.io.kernel.namespaces import Namespaces, describe, open_namespaces
from netdiag.io.kernel.proc_scan import Found, ProcScan, scan_proc
from netdiag.linux.netns import NetnsSource
from tests.io.kernel.hideouts import Hideouts, hidden_namespaces
from tests.io.namespaces import joined_namespaces
from tests.tools import tool

# Whoever else reads the machine meanwhile holds every namespace open.
pytestmark = pytest.mark.alone


@pytest.fixture
def hidden(tmp_path: Path) -> Iterator[Hideouts]:
    with hidden_namespaces(tmp_path) as hideouts:
        yield hideouts


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
    assert [(one.what, one.because) for one in spaces.unread] == [("net:[1]", "it ended while it was looked for")]


def _by_list(spaces: Namespaces) -> set[int]:
    """Those that a kernel with listns(2) tells of beside."""
    return {inode for inode, found in spaces.found.items() if NetnsSource.LISTNS in found.sources} - {
        os.stat("/proc/self/ns/net").st_ino
    }


@pytest.mark.parametrize("path", [b"/run/netns/a\xff", b"/var/run/netns/a\xff"])
def test_names_are_those_of_ip_netns(path: bytes) -> None:
    mounts = {path: None, b"/run/netns/x/y": None, b"/run/docker/netns/default": None, b"/run/netns/other": 17}
    found = Found(inode=5, mounts=dict(mounts), pids=[3, 4], process_count=2, sources={NetnsSource.BIND_MOUNT})
    netns = describe(found, 77)
    assert netns.names == ("a\\xff",)
    assert netns.mounts[2:] == ("/run/docker/netns/default", "/run/netns/other (seen by process 17)")
    assert (netns.cookie, netns.pids, netns.process_count) == (77, (3, 4), 2)


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
