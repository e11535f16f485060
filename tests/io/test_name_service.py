"""Both files of a place, from the first folder that has them."""

import os
from pathlib import Path

from netdiag.io.kernel.netns import Namespace
from netdiag.io.name_service import read_name_service


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
