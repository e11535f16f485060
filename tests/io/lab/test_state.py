"""What a lab owns, as a file."""

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from netdiag.errors import NetdiagError
from netdiag.io import tutorial_lab as lab_state
from netdiag.io.tutorial_lab import OwnedDevice, StateFile, new_state, state_file


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
