"""Tools that are missing are installed where that is possible, and named where it is not."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from tests import tools
from tests.lab.errors import LabError
from tests.tools import main, tool

ABSENT = {"no-such-reader": "no-such-package"}


@pytest.fixture
def nothing_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """A machine without these tools, but with Java, whose user may install nothing."""
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho /a/java\n")
    java.chmod(0o755)
    monkeypatch.setattr(tools, "COMMANDS", ABSENT)
    monkeypatch.setattr(tools, "JAVA", java)
    monkeypatch.setattr(tools, "can_install", lambda: False)
    return monkeypatch


def test_what_is_missing_is_named(nothing_here: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    assert main() == 1
    said = "no tool 'no-such-reader' (Debian package no-such-package): root could install it"
    assert capfd.readouterr().out == f"{said}\n/a/java\n"
    with pytest.raises(pytest.skip.Exception, match=r"^no tool 'no-such-reader' "):
        tool("no-such-reader")


def test_a_command_that_no_stage_installs_fails_even_where_it_is(nothing_here: pytest.MonkeyPatch) -> None:
    with pytest.raises(pytest.fail.Exception, match=r"^no stage installs 'sh': "):
        tool("sh")


def test_root_installs_the_packages(nothing_here: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    nothing_here.setattr(tools, "can_install", lambda: True)
    nothing_here.setattr(tools, "install", asked.extend)
    assert main() == 1
    assert asked == ["no-such-package"]


def test_an_installation_that_fails_is_a_line(
    nothing_here: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fails(packages: Iterable[str]) -> None:
        raise LabError("no way to the archive")

    nothing_here.setattr(tools, "can_install", lambda: True)
    nothing_here.setattr(tools, "install", fails)
    assert main() == 1
    assert "could not install: no way to the archive" in capfd.readouterr().out


def test_all_here_is_success_and_java_counts(
    nothing_here: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    nothing_here.setattr(tools, "COMMANDS", {"sh": "dash"})
    assert main() == 0
    assert capfd.readouterr().out == "all here: sh\n/a/java\n"
    assert tool("sh").endswith("/sh")
    (tmp_path / "java").write_text("#!/bin/sh\nexit 1\n")
    assert main() == 1
