"""Hosts files of namespaces."""

import os

from netdiag.io.hosts_files import read_hosts_file
from netdiag.linux.netns import Netns


def test_our_own_and_that_of_a_process_of_ours() -> None:
    with open("/etc/hosts", encoding="utf-8") as file:
        expected = file.read()
    assert read_hosts_file(Netns(inode=1), own=True) == expected
    if os.geteuid() == 0:
        assert read_hosts_file(Netns(inode=1, pids=(os.getpid(),))) == expected


def test_a_namespace_that_is_gone_has_none() -> None:
    assert read_hosts_file(Netns(inode=1, pids=(4_000_000,), names=("no-such-name",))) is None
