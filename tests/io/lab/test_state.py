"""What a lab owns, as a file."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from netdiag.errors import InputError, NetdiagError
from netdiag.io import tutorial_lab as lab_state
from netdiag.io.kernel.netns import NAMED
from netdiag.io.tutorial_lab import (
    FOLDER,
    Found,
    OwnedDevice,
    StateFile,
    asking,
    fresh_namespace,
    look,
    name_it,
    new_state,
    state_file,
    take_name,
)
from netdiag.topology.tutorial_lab import namespace_name
from tests.io.namespaces import needs_root
from tests.tools import tool


def test_a_state_is_read_as_it_was_written(tmp_path: Path) -> None:
    file, state = StateFile(tmp_path, "x"), new_state("x")
    state.spaces = {"host": 7, "one": None}
    state.devices = [OwnedDevice(space="host", name="netdiag-br0", index=101, marked=True)]
    state.steps, state.finished = ["a"], True
    file.write(state)
    assert file.read() == state
    assert oct(file.path.stat().st_mode & 0o777) == "0o600"
    file.delete()
    assert file.read() is None
    assert os.listdir(tmp_path) == []


def test_marks_are_nobody_elses() -> None:
    assert new_state("x").mark != new_state("x").mark
    assert new_state("x").mark.startswith("netdiag lab x ")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"version": 2}',
        '{"version": 1, "devices": []}',
        '{"version": 1, "devices": [{"x": 1}], "lab": "x", "mark": "m"}',
        '{"version": 1, "devices": [], "lab": "x", "mark": 7}',
        '{"version": 1, "devices": [], "lab": "x", "mark": "m", "spaces": {"host": "7"}}',
        '{"version": 1, "devices": [{"space": "h", "name": "n", "index": "7"}], "lab": "x", "mark": "m"}',
        "[" * 100_000,
        "\x00",
    ],
)
def test_what_is_no_state_is_an_error_in_one_line(tmp_path: Path, text: str) -> None:
    file = StateFile(tmp_path, "x")
    file.path.write_text(text)
    with pytest.raises(NetdiagError, match="not the state of a lab"):
        file.read()


def test_a_half_written_state_leaves_the_old_one(tmp_path: Path) -> None:
    file, state = StateFile(tmp_path, "x"), new_state("x")
    file.write(state)
    file.path.with_suffix(".new").write_text('{"vers')
    assert file.read() == state
    file.delete()
    assert os.listdir(tmp_path) == []


def test_the_folder_is_there_while_it_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab_state, "RUN", str(tmp_path / "run"))
    (tmp_path / "run").mkdir()
    with state_file("x", {}) as file:
        assert file.path == tmp_path / "run" / "netdiag" / "lab-x.json"
        file.write(new_state("x"))
    assert file.path.exists()
    with state_file("x", {"XDG_RUNTIME_DIR": str(tmp_path)}) as same:
        assert same.path == file.path
        same.delete()
    assert os.listdir(tmp_path / "run") == []


def test_without_run_the_folder_of_the_session_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab_state, "RUN", str(tmp_path / "nothing"))
    with state_file("x", {"XDG_RUNTIME_DIR": str(tmp_path)}) as file:
        assert file.path.parent == tmp_path / "netdiag"
    with pytest.raises(NetdiagError, match="no folder"), state_file("x", {"XDG_RUNTIME_DIR": "relative"}):
        pass


def test_two_at_once_wait_for_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab_state, "RUN", str(tmp_path))
    order: list[str] = []
    begun = threading.Event()

    def second() -> None:
        begun.set()
        with state_file("x", {}) as file:
            order.append("second")
            assert file.path.parent.exists()

    with state_file("x", {}):
        waiting = threading.Thread(target=second)
        waiting.start()
        begun.wait()
        order.append("first")
    waiting.join()
    assert order == ["first", "second"]


def test_a_folder_that_comes_and_goes_is_no_missing_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab_state, "RUN", str(tmp_path))
    monkeypatch.setattr(lab_state, "_PAUSE", 0.0)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def work(_: int) -> int:
        for _ in range(300):
            with state_file("x", {}) as file:
                assert file.path.parent.exists()
        return 300

    try:
        with ThreadPoolExecutor(4) as pool:
            assert sum(pool.map(work, range(4))) == 1200
    finally:
        sys.setswitchinterval(interval)
    assert os.listdir(tmp_path) == []


def test_one_that_never_ends_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab_state, "RUN", str(tmp_path))
    monkeypatch.setattr(lab_state, "_PATIENCE", 0.0)
    with state_file("x", {}), pytest.raises(NetdiagError, match="another netdiag"), state_file("x", {}):
        pass


_NUMBERS = count()
SPACES = ("host", "one", "two", "outside")


def fresh_name() -> str:
    """A name that no other test has."""
    return f"t{os.getpid()}-{next(_NUMBERS)}"


def ip(*words: str) -> str:
    """What `ip` prints."""
    return subprocess.run([tool("ip"), *words], capture_output=True, text=True, check=True).stdout


def names_of(lab: str) -> set[str]:
    """The namespaces of a lab that have a name."""
    folder = Path("/", NAMED)
    return {path.name for path in folder.glob(f"netdiag-{lab}-*")} if folder.exists() else set()


def links() -> list[str]:
    """The devices of this namespace, as they are called."""
    return [line.split()[0] for line in ip("-brief", "link").splitlines()]


@contextmanager
def cleared(lab: str) -> Iterator[None]:
    """Whatever a failed test left of its own lab is removed by name."""
    try:
        yield
    finally:
        for name in names_of(lab):
            subprocess.run([tool("ip"), "netns", "delete", name], capture_output=True, check=False)
            Path("/", NAMED, name).unlink(missing_ok=True)


def all_names(lab: str) -> set[str]:
    """The names that a whole lab has."""
    return {namespace_name(lab, space) for space in SPACES}


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
    with pytest.raises(InputError, match="which this lab did not create"):
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
