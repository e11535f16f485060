"""What /proc tells of processes, as strangers may write it."""

import os
from pathlib import Path

import pytest

from netdiag.linux.netns import NamedNamespace
from netdiag.linux.procfs import (
    NamespaceMount,
    ProcessStat,
    parse_container_id,
    parse_if_inet6,
    parse_mounted_container_id,
    parse_namespace_mounts,
    parse_stat,
    parse_tun_name,
    proves_container,
    unescaped,
)

AFTER = b"S 7 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 3 0 4242 1 2"
ID = "0123456789abcdef" * 4
OTHER = "f" * 64


@pytest.mark.parametrize(
    ("comm", "shown"),
    [
        (b"java", "java"),
        (b"a) S 1 1", "a) S 1 1"),
        (b"((", "(("),
        (b"\x1b[31m\n", "\x1b[31m\n"),
        (b"\xff", "\\xff"),
        (b"", ""),
    ],
)
def test_a_process_may_call_itself_anything(comm: bytes, shown: str) -> None:
    expected = ProcessStat(comm=shown, parent=7, flags=4194560, threads=3, started=4242, state="S")
    assert parse_stat(b"17 (" + comm + b") " + AFTER) == expected


@pytest.mark.parametrize("text", [b"", b"17 (java", b"17 (java) S 1", b")(" + AFTER, b"17 (x) " + b"x " * 40])
def test_what_is_no_stat_is_nothing(text: bytes) -> None:
    assert parse_stat(text) is None


def test_this_process_is_read_as_it_is() -> None:
    stat = parse_stat(Path("/proc/self/stat").read_bytes())
    assert stat is not None
    assert stat.parent == os.getppid()
    assert stat.comm == Path("/proc/self/comm").read_text().removesuffix("\n")
    assert not stat.kernel_thread


@pytest.mark.parametrize(
    ("cgroup", "expected"),
    [
        (f"12:pids:/docker/{ID}\n1:name=systemd:/docker/{ID}\n", ID),
        (f"0::/system.slice/docker-{ID}.scope\n", ID),
        (f"0::/../../docker-{ID}.scope/init\n", ID),
        (f"0::/docker/{OTHER}/docker/{ID}\n", ID),
        (f"0::/kubepods.slice/cri-containerd-{ID}.scope", ID),
        ("0::/user.slice/user-1000.slice/session-2.scope", ""),
        (f"0::/{ID}0", ""),
        ("", ""),
    ],
)
def test_the_container_of_a_process(cgroup: str, expected: str) -> None:
    assert parse_container_id(cgroup) == expected


def test_the_container_by_the_files_that_its_engine_mounts() -> None:
    line = f"612 590 8:1 /var/lib/docker/containers/{ID}/hosts /etc/hosts rw - ext4 /dev/sda1 rw\n"
    assert parse_mounted_container_id(line.encode()) == ID
    assert parse_mounted_container_id(line.replace("/etc/hosts", "/tmp/hosts").encode()) == ""
    assert parse_mounted_container_id(b"\xff") == ""


def test_the_device_of_an_open_tun() -> None:
    assert parse_tun_name(b"pos:\t0\nflags:\t02\niff:\ttap0\n") == "tap0"
    assert parse_tun_name(b"pos:\t0\n") == ""


def test_namespaces_that_bind_mounts_keep() -> None:
    mountinfo = (
        b"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
        b"2 1 0:4 net:[4026532000] /run/netns/one rw shared:1 - nsfs nsfs rw\n"
        b"3 2 0:4 net:[4026532000] /run/netns/one rw - nsfs nsfs rw\n"
        b"4 1 0:4 net:[4026532001] /run/a\\040b\\011c\\134d\\012e rw - nsfs nsfs rw\n"
        b"5 1 0:4 mnt:[4026532002] /run/mnt rw - nsfs nsfs rw\n"
        b"6 1 0:4 net:[12x] /run/x rw - nsfs nsfs rw\n"
        b"7 1 0:5 net:[4026532003] /run/y rw - tmpfs - nsfs rw\n"
        b"8 1\n - nsfs \n"
    )
    assert parse_namespace_mounts(mountinfo) == (
        NamespaceMount(inode=4026532000, path=b"/run/netns/one"),
        NamespaceMount(inode=4026532001, path=b"/run/a b\tc\\d\ne"),
    )
    assert parse_namespace_mounts(b"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n") == ()


def test_escapes_of_mount_points() -> None:
    assert unescaped(b"\\134\\040\\999\\1\xff") == b"\\ \\999\\1\xff"


CONTAINMENT_ID = "c84ae2429ac2" + "0" * 52
MOUNT = f"512 500 254:0 /data/containers/{CONTAINMENT_ID}/hosts /etc/hosts rw,relatime - ext4 /dev/vda rw"


@pytest.mark.parametrize(
    ("cgroup", "mountinfo", "proven"),
    [
        (f"12:pids:/docker/{CONTAINMENT_ID}\n", "", True),
        (f"0::/system.slice/docker-{CONTAINMENT_ID}.scope\n", "", True),
        ("0::/\n", MOUNT, True),
        ("0::/\n", "", False),
        ("0::/user.slice\n", f"1 2 3 /data/containers/{CONTAINMENT_ID}/hosts /mnt rw - ext4 x rw", False),
        ("0::/user.slice\n", "short line", False),
        (f"0::/docker/{'1' * 64}\n", "", False),
    ],
)
def test_proof(cgroup: str, mountinfo: str, proven: bool) -> None:
    assert proves_container(CONTAINMENT_ID, cgroup=cgroup, mountinfo=mountinfo) is proven


def test_a_short_id_proves_nothing() -> None:
    assert not proves_container("", cgroup="0::/\n", mountinfo="")
    assert not proves_container("c84a", cgroup="0::/docker/c84a\n", mountinfo="")


TABLE = """00000000000000000000000000000001 01 80 10 80       lo
fe80000000000000042acffffe2b3c41 02 40 20 80     eth0
20010db8000000000000000000000005 02 40 00 80     eth0
"""


def test_addresses() -> None:
    assert parse_if_inet6(TABLE) == ("::1", "fe80::42a:cfff:fe2b:3c41", "2001:db8::5")
    assert parse_if_inet6("") == ()
    assert parse_if_inet6("zz000000000000000000000000000001 lo\nshort\n") == ()


@pytest.mark.parametrize(
    ("name", "valid"),
    [("lan", True), ("a.b-c_1", True), ("...", True), ("", False), (".", False), ("..", False), ("a/b", False)],
)
def test_a_name_is_a_file_name(name: str, valid: bool) -> None:
    assert NamedNamespace(name=name).valid is valid
