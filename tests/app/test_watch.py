"""Checking again: which files are watched, and how live checks follow each other."""

import io
import os
from pathlib import Path

import pytest

from netdiag.app.rerun import sudo_line, via_line
from netdiag.app.watch import FileWatch, live_rounds, step_timeout
from netdiag.io import files as polling
from netdiag.render.report import Report
from tests.app.checks import result_of
from tests.cli.shell import BROKEN, ROOT


def test_every_file_that_was_read_or_could_not_be_is_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = BROKEN.replace("    environment:", "    env_file: k.env\n    environment:")
    Path("compose.yml").write_text(text, encoding="utf-8")
    Path("k.env").write_text("A=1\n", encoding="utf-8")
    watch = FileWatch(())
    assert {"compose.yaml", "compose.override.yml", ".env", "netdiag.toml", "pyproject.toml"} <= watch.files
    watch.add(result_of())
    watch.add(result_of("gone.yml"))
    assert {"k.env", "gone.yml"} <= watch.files


def test_a_change_of_a_file_that_a_round_read_begins_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polling, "EVERY", 0.01)
    monkeypatch.chdir(tmp_path)
    watch = FileWatch(("compose.yml",))
    rounds = watch.rounds()
    next(rounds)
    watch.files.add("k.env")
    Path("compose.yml").write_text("x", encoding="utf-8")
    next(rounds)
    Path("compose.yml").write_text("xy", encoding="utf-8")
    next(rounds)


def test_an_interrupted_check_ends_the_rounds() -> None:
    with pytest.raises(KeyboardInterrupt):
        next(live_rounds(lambda: Report(interrupted=True), 5, None))


def test_rounds_end_when_nobody_reads_any_more() -> None:
    reader, writer = os.pipe()
    with os.fdopen(writer, "w") as output:
        rounds = live_rounds(Report, 0.01, output)
        assert next(rounds) == next(rounds) == Report()
        os.close(reader)
        assert list(rounds) == []


def test_rounds_go_on_where_nobody_can_tell() -> None:
    rounds = live_rounds(Report, 0.01, io.StringIO())
    assert [next(rounds) for _ in range(3)] == [Report()] * 3


def test_a_step_leaves_time_to_report_within_two_intervals() -> None:
    assert step_timeout(5, 4) == 3.5
    assert step_timeout(60, 4) == 4
    assert step_timeout(1, 4) == 0.5
    assert step_timeout(5, 1) == 1


@pytest.mark.parametrize(
    ("argv", "engine", "line"),
    [
        (["/opt/x/netdiag", "check-listeners", "--live"], "unix:///var/run/docker.sock", "{0} check-listeners --live"),
        (
            ["/opt/x/netdiag", "check-listeners", "--live", "a b.yml"],
            "tcp://h:1",
            "{0} check-listeners --live 'a b.yml' --host tcp://h:1",
        ),
        (["/opt/x/netdiag", "--live", "--host=tcp://h:1"], "tcp://h:1", "{0} --live --host=tcp://h:1"),
        (["/opt/x/netdiag", "--context", "far", "--live"], "tcp://h:1", "{0} --live --host tcp://h:1"),
        (["/opt/x/netdiag", "--live", "--context=far"], "tcp://h:1", "{0} --live --host tcp://h:1"),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="needs POSIX paths")
def test_the_sudo_line_is_this_command(argv: list[str], engine: str, line: str) -> None:
    assert sudo_line(argv, engine) == "sudo " + line.format("/opt/x/netdiag")


def test_the_sudo_line_of_a_module() -> None:
    line = sudo_line([f"{ROOT}/netdiag/__main__.py", "check-listeners"], "unix:///var/run/docker.sock")
    assert line is not None
    assert line.endswith("-m netdiag check-listeners")


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX paths")
def test_the_line_of_a_helper_container() -> None:
    line = via_line(["/opt/x/netdiag", "check-listeners", "--live", "a b.yml"])
    assert line == "/opt/x/netdiag check-listeners --live 'a b.yml' --via container"


def test_without_a_command_line_there_is_none() -> None:
    assert sudo_line((), "unix:///var/run/docker.sock") is None
    assert via_line(()) is None
