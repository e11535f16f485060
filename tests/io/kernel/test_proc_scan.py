"""One pass over /proc: this machine's, and one that is made of files."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from netdiag.errors import NetdiagError
from netdiag.io.kernel.proc_scan import read_process, scan_proc
from netdiag.linux.netns import NetnsSource
from tests.io.kernel.test_namespaces import HOSTILE, hidden_namespaces

STAT = "S {parent} 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 {threads} 0 4242 1 2"

# Whoever else reads the machine meanwhile holds sockets and namespaces open, too.
pytestmark = pytest.mark.alone


def test_this_process_and_its_sockets_are_found() -> None:
    with socket.socket() as mine:
        scan = scan_proc()
        inode = os.fstat(mine.fileno()).st_ino
        assert scan.socket_pids[inode] == (os.getpid(),)
        assert scan.sockets[inode] == (os.getpid(), mine.fileno())
    own = os.stat("/proc/self/ns/net").st_ino
    assert scan.own == scan.netns[os.getpid()] == own
    assert NetnsSource.OWN in scan.found[own].sources
    process = read_process(scan, os.getpid())
    assert process is not None
    assert (process.parent, process.netns, process.argv) == (os.getppid(), own, ())


def test_a_socket_that_is_handed_down_has_two_holders() -> None:
    with socket.socket() as mine:
        mine.set_inheritable(True)
        command = [sys.executable, "-c", "input()"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[mine.fileno()]) as child:
            scan = scan_proc()
            assert set(scan.socket_pids[os.fstat(mine.fileno()).st_ino]) == {os.getpid(), child.pid}
            child.communicate(b"\n")


def test_namespaces_of_threads_files_and_mounts_are_found(tmp_path: Path) -> None:
    with hidden_namespaces(tmp_path) as hidden:
        scan = scan_proc()
        expected = {
            "thread": NetnsSource.THREAD,
            "descriptor": NetnsSource.DESCRIPTOR,
            "bind mount": NetnsSource.BIND_MOUNT,
        }
        for kept_by, source in expected.items():
            assert scan.found[hidden.inodes[kept_by]].sources == {source}
        assert hidden.inodes["socket"] not in scan.found
        assert scan.found[hidden.inodes["bind mount"]].mounts == {bytes(tmp_path / HOSTILE): hidden.pid}


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """/proc with this process only, in namespace `tmp_path/own`."""
    (tmp_path / "own").touch()
    _process(tmp_path, os.getpid(), "netdiag")
    (tmp_path / "self").symlink_to(str(os.getpid()))
    return tmp_path


def _process(proc: Path, pid: int, comm: str, threads: int = 1, netns: str = "own") -> Path:
    base = proc / str(pid)
    for folder in ("ns", "fd", "fdinfo"):
        (base / folder).mkdir(parents=True)
    (base / "stat").write_text(f"{pid} ({comm}) {STAT.format(parent=1, threads=threads)}")
    (base / "ns" / "net").symlink_to(proc / netns)
    (base / "ns" / "mnt").symlink_to(proc / "own")
    (base / "root").symlink_to("/")
    (base / "mountinfo").write_text("")
    (base / "cgroup").write_text("0::/\n")
    (base / "cmdline").write_bytes(b"program\0--password\0secret\0")
    return base


def test_hostile_names_are_kept_as_they_are_and_arguments_only_of_proxies(proc: Path) -> None:
    _process(proc, 7, "a) R 1 (\x1b[31m\n")
    _process(proc, 8, "docker-proxy")
    scan = scan_proc(str(proc))
    seven, eight = (read_process(scan, pid, str(proc)) for pid in (7, 8))
    assert seven is not None
    assert eight is not None
    assert (seven.comm, seven.argv) == ("a) R 1 (\x1b[31m\n", ())
    assert eight.argv == ("program", "--password", "secret")
    assert read_process(scan, 9, str(proc)) is None


def test_an_open_tun_is_told_by_its_device(proc: Path) -> None:
    base = _process(proc, 7, "vpn")
    for number, line in (("4", "iff:\ttap0\n"), ("5", "")):
        (base / "fd" / number).symlink_to("/dev/net/tun")
        (base / "fdinfo" / number).write_text(f"pos:\t0\n{line}")
    scan = scan_proc(str(proc))
    assert [(tun.pid, tun.descriptor, tun.ifname) for tun in scan.tuns] == [(7, 4, "tap0")]


def test_a_process_whose_first_thread_ended_is_found_by_another(proc: Path) -> None:
    base = _process(proc, 7, "go", threads=2)
    (base / "ns" / "net").unlink()
    (base / "task" / "8" / "ns").mkdir(parents=True)
    (base / "task" / "8" / "fd").mkdir()
    (base / "task" / "8" / "ns" / "net").symlink_to(proc / "own")
    (base / "task" / "8" / "fd" / "3").symlink_to("socket:[77]")
    scan = scan_proc(str(proc))
    assert scan.socket_pids[77] == (7,)
    assert NetnsSource.THREAD in scan.found[scan.own].sources


def test_processes_that_end_in_between_are_passed_over(proc: Path) -> None:
    (proc / "7").mkdir()
    _process(proc, 8, "half")
    (proc / "8" / "fd").rmdir()
    _process(proc, 9, "odd")
    (proc / "9" / "stat").write_text("nonsense")
    scan = scan_proc(str(proc))
    assert {8, os.getpid()} == set(scan.stats)
    assert [one.what for one in scan.unread] == ["processes of other users"]


def test_a_container_is_told_by_cgroup_or_by_what_its_engine_mounts(proc: Path) -> None:
    one, other = "1" * 64, "2" * 64
    (_process(proc, 7, "a") / "cgroup").write_text(f"0::/system.slice/docker-{one}.scope\n")
    base = _process(proc, 8, "b")
    (proc / "elsewhere").touch()
    (base / "ns" / "mnt").unlink()
    (base / "ns" / "mnt").symlink_to(proc / "elsewhere")
    (base / "mountinfo").write_text(f"1 0 8:1 /x/containers/{other}/hosts /etc/hosts rw - ext4 /dev/sda rw\n")
    scan = scan_proc(str(proc))
    found = [read_process(scan, pid, str(proc)) for pid in (7, 8, os.getpid())]
    assert [process.container_id for process in found if process is not None] == [one, other, ""]


def test_what_may_not_be_read_is_told_and_the_rest_goes_on() -> None:
    """As nobody: other users' processes are closed, ours is open."""
    if os.geteuid() != 0:
        pytest.skip("needs root: the test gives up its rights")
    program = (
        "import ctypes, os\n"
        "from netdiag.io.kernel.proc_scan import scan_proc\n"
        "os.setgid(65534); os.setuid(65534)\n"
        # PR_SET_DUMPABLE: who changes its user may otherwise not even look at itself
        "ctypes.CDLL(None).prctl(4, 1)\n"
        "scan = scan_proc()\n"
        "print(sum(one.what.startswith('process ') for one in scan.unread), scan.netns[os.getpid()] == scan.own)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    count, own = done.stdout.split()
    assert int(count) > 0
    assert own == "True"


def test_without_proc_there_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(NetdiagError, match="/self/ns/net cannot be read: no such file"):
        scan_proc(str(tmp_path))
