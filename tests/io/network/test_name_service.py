"""Both files of a place, from the first folder that has them."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from netdiag.io.kernel.netns import Namespace
from netdiag.io.network.name_service import (
    LARGEST,
    ForeignText,
    Unreadable,
    read_below,
    read_hosts_file,
    read_name_service,
)
from netdiag.linux.netns import Netns


def place(root: Path, *etc: str) -> Namespace:
    return Namespace(descriptor=None, root=os.open(root, os.O_PATH | os.O_DIRECTORY), ipv6=(), etc=etc)


def test_the_first_folder_wins_file_by_file(tmp_path: Path) -> None:
    for folder in ("own", "etc"):
        (tmp_path / folder).mkdir()
    (tmp_path / "own/hosts").write_text("10.0.0.1 kafka\n")
    (tmp_path / "etc/hosts").write_text("10.0.0.2 kafka\n")
    (tmp_path / "etc/resolv.conf").write_text("nameserver 10.0.0.3\n")
    with place(tmp_path, "own", "etc") as namespace:
        found = read_name_service(namespace)
    assert found.hosts.lookup("kafka") == ("10.0.0.1",)
    assert found.resolv_conf.nameservers == ("10.0.0.3",)
    assert found.unreadable == ()


def test_no_files_are_the_defaults(tmp_path: Path) -> None:
    with place(tmp_path, "etc") as namespace:
        found = read_name_service(namespace)
    assert found.hosts.lookup("localhost") == ()
    assert found.resolv_conf.nameservers == ("127.0.0.1",)


def test_a_file_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    os.mkfifo(tmp_path / "etc/hosts")
    with place(tmp_path, "etc") as namespace:
        assert read_name_service(namespace).unreadable == ("/etc/hosts: not a regular file",)


def test_our_own_and_that_of_a_process_of_ours() -> None:
    with open("/etc/hosts", encoding="utf-8") as file:
        expected = file.read()
    assert read_hosts_file(Netns(inode=1), own=True) == expected
    if os.geteuid() == 0:
        assert read_hosts_file(Netns(inode=1, pids=(os.getpid(),))) == expected


def test_a_namespace_that_is_gone_has_none() -> None:
    assert read_hosts_file(Netns(inode=1, pids=(4_000_000,), names=("no-such-name",))) is None


@pytest.fixture
def root(tmp_path: Path) -> Iterator[int]:
    (tmp_path / "etc").mkdir()
    descriptor = os.open(tmp_path, os.O_PATH | os.O_DIRECTORY)
    yield descriptor
    os.close(descriptor)


def test_a_file(root: int, tmp_path: Path) -> None:
    (tmp_path / "etc/hosts").write_text("127.0.0.1 localhost\n")
    assert read_below(root, "etc/hosts") == ForeignText(text="127.0.0.1 localhost\n")


def test_no_file(root: int) -> None:
    assert read_below(root, "etc/hosts") == ForeignText(text="", exists=False)


def test_links_lead_nowhere_outside(root: int, tmp_path: Path) -> None:
    secret = tmp_path.parent / f"{tmp_path.name}-secret"
    secret.write_text("outside")
    (tmp_path / "inside").write_text("inside")
    (tmp_path / "etc/absolute").symlink_to("/inside")
    (tmp_path / "etc/up").symlink_to(f"../../{secret.name}")
    (tmp_path / "etc/outside").symlink_to(secret)
    assert read_below(root, "etc/absolute") == ForeignText(text="inside")
    assert read_below(root, "etc/up") == ForeignText(text="", exists=False)
    assert read_below(root, "etc/outside") == ForeignText(text="", exists=False)


def test_magic_links_are_not_followed() -> None:
    root = os.open("/", os.O_PATH | os.O_DIRECTORY)
    try:
        found = read_below(root, f"proc/{os.getpid()}/root/etc/passwd")
    finally:
        os.close(root)
    assert isinstance(found, Unreadable)


def test_a_fifo_does_not_block(root: int, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "etc/hosts")
    assert read_below(root, "etc/hosts") == Unreadable(because="/etc/hosts: not a regular file")


def test_neither_folders_nor_devices(root: int, tmp_path: Path) -> None:
    (tmp_path / "etc/hosts").mkdir()
    assert read_below(root, "etc/hosts") == Unreadable(because="/etc/hosts: not a regular file")


def test_only_small_files(root: int, tmp_path: Path) -> None:
    (tmp_path / "etc/hosts").write_bytes(b"x" * LARGEST)
    found = read_below(root, "etc/hosts")
    assert isinstance(found, ForeignText)
    assert len(found.text) == LARGEST
    (tmp_path / "etc/hosts").write_bytes(b"x" * (LARGEST + 1))
    assert read_below(root, "etc/hosts") == Unreadable(because="/etc/hosts: larger than 64 KiB")


def test_bytes_that_are_no_text(root: int, tmp_path: Path) -> None:
    (tmp_path / "etc/hosts").write_bytes(b"\xff127.0.0.1 a\n")
    assert isinstance(read_below(root, "etc/hosts"), ForeignText)


def test_a_loop_of_links(root: int, tmp_path: Path) -> None:
    (tmp_path / "etc/hosts").symlink_to("hosts")
    assert isinstance(read_below(root, "etc/hosts"), Unreadable)
