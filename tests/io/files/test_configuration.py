"""Which files may configure a folder, in which order, and where the search ends."""

from pathlib import Path

import pytest

from netdiag.errors import InputError
from netdiag.io.files import CONFIGURATION_LIMIT, config_candidates, read_config


def put(folder: Path, *names: str, text: str = "# netdiag\n") -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def found(folder: Path, top: Path) -> list[str]:
    return [Path(path).relative_to(top).as_posix() for path, _ in config_candidates(str(folder))]


def test_nearest_first_and_no_further_than_the_repository(tmp_path: Path) -> None:
    put(tmp_path, "netdiag.toml", "r/netdiag.toml", "r/pyproject.toml", "r/a/pyproject.toml", "r/a/b/netdiag.toml")
    (tmp_path / "r" / ".git").mkdir()
    expected = ["r/a/b/netdiag.toml", "r/a/pyproject.toml", "r/netdiag.toml", "r/pyproject.toml"]
    assert found(tmp_path / "r" / "a" / "b", tmp_path) == expected


def test_a_worktree_has_a_file_for_its_git(tmp_path: Path) -> None:
    put(tmp_path, "netdiag.toml", "r/.git")
    assert found(tmp_path / "r", tmp_path) == []


def test_a_project_that_does_not_name_us_is_passed_by(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    put(tmp_path, "pyproject.toml", text="[project]\n")
    assert found(tmp_path, tmp_path) == []


def test_relative_folders_and_folders_that_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    put(tmp_path, "netdiag.toml", "a/x")
    monkeypatch.chdir(tmp_path / "a")
    assert found(Path(""), tmp_path) == ["netdiag.toml"]
    assert found(Path("gone/deep"), tmp_path) == ["netdiag.toml"]


def test_a_file_that_is_too_large_is_an_error(tmp_path: Path) -> None:
    put(tmp_path, "netdiag.toml", text="#" * (CONFIGURATION_LIMIT + 1))
    with pytest.raises(InputError):
        read_config(str(tmp_path / "netdiag.toml"))
