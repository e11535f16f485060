"""Entering namespaces: by name, by process, without leaving anything behind."""

import gc
import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from netdiag.errors import InputError, MissingRight, NetdiagError
from netdiag.io.engine.live_deployment import host_addresses
from netdiag.io.kernel.netns import Vanished, is_process_of, open_namespace, same_namespace_as
from netdiag.linux.netns import NamedNamespace, OwnNamespace, ProcessNamespace
from tests.io.namespaces import FAR, NEAR, Pair, needs_root


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
