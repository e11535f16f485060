"""Ways into namespaces."""

import os

import pytest

from netdiag.errors import NetdiagError
from netdiag.io.entering import enter, entrances
from netdiag.linux.netns import NamedNamespace, Netns, OwnNamespace, ProcessNamespace
from netdiag.topology.inventory import Inventory, NamespaceFacts

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
    with pytest.raises(NetdiagError, match="no way in"):
        enter(inventory(Netns(inode=1, pids=(4_000_000,)), own=2), 1)
    with pytest.raises(NetdiagError, match="no way in"):
        enter(inventory(Netns(inode=1)), 5)
