"""Namespaces of our own: made, named, recognised, and nothing else taken for one."""

import os
from collections.abc import Iterator

import pytest

from netdiag.errors import InputError
from netdiag.io.tutorial_lab import FOLDER, Found, asking, fresh_namespace, look, name_it, take_name
from tests.io.lab.labs import cleared, fresh_name, ip
from tests.io.namespaces import needs_root

MARK = "netdiag lab test 0123"


@pytest.fixture
def name() -> Iterator[str]:
    needs_root()
    lab = fresh_name()
    with cleared(lab):
        yield f"netdiag-{lab}-x"


def test_a_namespace_is_named_recognised_and_removed(name: str) -> None:
    fresh = fresh_namespace(MARK)
    assert fresh.inode != os.stat("/proc/self/ns/net").st_ino
    assert look(name, fresh.inode, MARK) is Found.NOTHING
    name_it(fresh, name, MARK)
    fresh.close()
    assert look(name, fresh.inode, MARK) is Found.OURS
    assert name in ip("netns", "list")
    take_name(name, fresh.inode, MARK)
    assert look(name, fresh.inode, MARK) is Found.NOTHING


def test_neither_inode_nor_mark_alone_makes_it_ours(name: str) -> None:
    fresh = fresh_namespace(MARK)
    name_it(fresh, name, MARK)
    fresh.close()
    assert look(name, fresh.inode + 1, MARK) is look(name, None, MARK) is Found.FOREIGN
    assert look(name, fresh.inode, MARK + "4") is Found.FOREIGN
    for inode, mark in ((fresh.inode + 1, MARK), (None, MARK), (fresh.inode, MARK + "4")):
        take_name(name, inode, mark)
    assert look(name, fresh.inode, MARK) is Found.OURS


def test_a_name_that_was_begun_is_removed_and_another_file_is_not(name: str) -> None:
    path = f"{FOLDER}/{name}"
    os.makedirs(FOLDER, exist_ok=True)
    for content, found in ((b"", Found.UNFINISHED), (MARK.encode(), Found.UNFINISHED), (b"mine", Found.FOREIGN)):
        with open(path, "wb") as file:
            file.write(content)
        assert look(name, None, MARK) is found
        take_name(name, None, MARK)
        assert os.path.exists(path) is (found is Found.FOREIGN)
    os.unlink(path)
    os.mkdir(path)
    assert look(name, None, MARK) is Found.FOREIGN
    os.rmdir(path)


def test_a_name_that_somebody_has_is_not_taken(name: str) -> None:
    ip("netns", "add", name)
    inode = os.stat(f"{FOLDER}/{name}").st_ino
    fresh = fresh_namespace(MARK)
    with pytest.raises(InputError, match="none of this lab's"):
        name_it(fresh, name, MARK)
    fresh.close()
    assert os.stat(f"{FOLDER}/{name}").st_ino == inode


def test_a_namespace_without_a_name_is_gone_with_its_maker() -> None:
    needs_root()
    before = len(os.listdir("/proc/self/fd"))
    fresh = fresh_namespace(MARK)
    fresh.close()
    assert len(os.listdir("/proc/self/fd")) == before


def test_questions_end_with_their_socket() -> None:
    import socket

    before = len(os.listdir("/proc/self/fd"))
    with asking(socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, socket.NETLINK_ROUTE)) as routes:
        assert routes.link_lookup(ifname="lo") == [1]
    assert len(os.listdir("/proc/self/fd")) == before
