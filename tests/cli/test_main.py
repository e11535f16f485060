"""The command itself: what it costs to start, what every command has, which exit status a report gets."""

import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import typer

from netdiag import __version__
from netdiag.cli.command import Command, command_of, console_of, finish
from netdiag.cli.console import Colour, Console
from netdiag.cli.exit_status import ExitStatus, status_of
from netdiag.cli.main import COMMANDS, attribute_at
from netdiag.errors import InputError, internal_error
from netdiag.findings import ContainerLocation, Finding, Severity
from netdiag.render.report import Input, Problem, Report, Skipped
from netdiag.rules.compose import COMPOSE
from netdiag.rules.declared import DECLARED
from tests.cli.shell import CLEAN, environment, netdiag

NOT_FOR_LINT = {"rich", "docker", "pyroute2", "scapy", "pyspark", "cryptography", "requests", "asyncio"}


def test_version(tmp_path: Path) -> None:
    done = netdiag("--version", cwd=tmp_path)
    assert (done.returncode, done.stdout.decode().split()) == (0, ["netdiag", __version__])


def test_help_is_shown_without_a_command(tmp_path: Path) -> None:
    done = netdiag(cwd=tmp_path)
    assert b"check-listeners" in done.stdout + done.stderr
    assert netdiag("--help", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("words", [["no-such-command"], ["--no-such-option"], ["check-listeners", "--fail-on", "x"]])
def test_wrong_usage_is_2(tmp_path: Path, words: list[str]) -> None:
    done = netdiag(*words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"Error: " in done.stderr
    assert b"Traceback" not in done.stderr


def test_completion_is_offered(tmp_path: Path) -> None:
    done = netdiag(
        cwd=tmp_path,
        env={"_NETDIAG_COMPLETE": "complete_bash", "COMP_WORDS": "netdiag check", "COMP_CWORD": "1"},
    )
    assert done.stdout.split() == [b"check-listeners"]


def loaded(*words: str, cwd: Path) -> set[str]:
    """The modules that a run of Python imports."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *words],
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}


def packages(*words: str, cwd: Path) -> set[str]:
    """The top-level ones of them."""
    return {name.partition(".")[0] for name in loaded(*words, cwd=cwd)}


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["check-listeners", "c.yml"], ["rules"]])
def test_extras_and_rich_are_not_packages(tmp_path: Path, words: list[str]) -> None:
    """Old versions of Typer load rich by themselves; netdiag adds nothing to what Typer loads."""
    (tmp_path / "c.yml").write_text(CLEAN, encoding="utf-8")
    ours = packages("-m", "netdiag", *words, cwd=tmp_path)
    assert "typer" in ours
    assert not (ours - packages("-c", "import typer", cwd=tmp_path)) & NOT_FOR_LINT


def test_a_closed_standard_output_is_an_error_of_one_line(tmp_path: Path) -> None:
    (tmp_path / "compose.yml").write_text(CLEAN, encoding="utf-8")
    code = "import sys; sys.stdout = None; from netdiag.cli.main import run; run()"
    done = subprocess.run(
        [sys.executable, "-c", code, "check-listeners"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 3
    assert done.stderr == b"netdiag: standard output is closed\n  fix: redirect it to a file\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_says_what_the_command_says(name: str) -> None:
    entry = COMMANDS[name]
    function = attribute_at(entry.function)
    assert re.sub(r"\s+", " ", inspect.getdoc(function) or "").startswith(entry.help)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_can_be_called_for_help(name: str, tmp_path: Path) -> None:
    assert netdiag(name, "--help", cwd=tmp_path).stdout.startswith(f"Usage: netdiag {name} ".encode())


def test_the_list_of_commands_is_complete(tmp_path: Path) -> None:
    listed = re.findall(r"^  ([a-z][\w-]+)  ", netdiag("--help", cwd=tmp_path).stdout.decode(), re.MULTILINE)
    assert listed[-len(COMMANDS) :] == list(COMMANDS)


def test_a_command_does_not_load_the_others(tmp_path: Path) -> None:
    """Python names every module that it loads on standard error when it is asked for their times."""
    for words, without in ((["rules"], "netdiag.traffic.native"), (["exchanges", "--help"], "netdiag.rules")):
        assert not {name for name in loaded("-m", "netdiag", *words, cwd=tmp_path) if name.startswith(without)}


# Of netdiag itself, without its rules: raise it only for what every check of a file needs.
MOST_MODULES = 117
NEVER_FOR_FILES = ("topology", "traffic", "linux", "playbook", "engine", "machine", "io.engine", "kafka.protocol")


def test_a_check_of_a_file_imports_little(tmp_path: Path) -> None:
    (tmp_path / "c.yml").write_text(CLEAN, encoding="utf-8")
    ours = {name for name in loaded("-m", "netdiag", "check-listeners", "c.yml", cwd=tmp_path) if "netdiag" in name}
    rules = {name for name in ours if re.match(r"netdiag\.rules\.(compose|declared)\.", name)}
    assert len(rules) == len(COMPOSE) + len(DECLARED)
    assert len(ours - rules) <= MOST_MODULES
    assert not {name for name in ours if name.removeprefix("netdiag.").startswith(NEVER_FOR_FILES)}
    formats = {name for name in ours if name.startswith("netdiag.render.formats.")}
    assert formats == {"netdiag.render.formats.text"}


def test_help_imports_nothing_that_checks(tmp_path: Path) -> None:
    shown = loaded("-m", "netdiag", "check-listeners", "--help", cwd=tmp_path)
    assert not {
        name for name in shown if name.startswith(("netdiag.rules", "netdiag.compose", "netdiag.app", "ruamel"))
    }


def raising(error: BaseException) -> Callable[[], ExitStatus]:
    def command() -> ExitStatus:
        raise error

    return command


@pytest.mark.parametrize(
    ("command", "status", "told"),
    [
        (lambda: ExitStatus.FINDINGS, 1, ""),
        (raising(InputError("m", where="w", hint="h")), 3, "netdiag: w: m\n  fix: h\n"),
        (raising(KeyboardInterrupt()), 130, "netdiag: interrupted\n"),
        (raising(ZeroDivisionError("division\nby zero")), 3, "internal error: ZeroDivisionError: division by zero"),
        (raising(RecursionError()), 3, "internal error: RecursionError"),
    ],
)
@pytest.mark.parametrize("debug", [False, True])
def test_the_end(
    command: Callable[[], ExitStatus], status: int, told: str, debug: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as end:
        finish(Console(debug=debug, colour=Colour.NEVER), command)
    assert end.value.exit_code == status
    printed = capsys.readouterr()
    assert printed.out == ""
    assert told in printed.err
    assert ("Traceback" in printed.err) == (debug and status > 1)


@pytest.mark.parametrize(
    ("words", "expected"),
    [([], (True, False, Colour.ALWAYS)), (["--debug", "--color", "never"], (True, True, Colour.NEVER))],
)
def test_options_after_the_command_win(words: list[str], expected: tuple[bool, bool, Colour]) -> None:
    seen: list[Console] = []

    def function(context: typer.Context) -> ExitStatus:
        seen.append(console_of(context))
        return ExitStatus.FINDINGS

    command = command_of(function, Command)
    status = command.main(words, obj=Console(verbose=True, colour=Colour.ALWAYS), standalone_mode=False)
    (console,) = seen
    assert (console.verbose, console.debug, console.colour) == expected
    assert status == 1


def test_a_defect_says_how_to_report_it() -> None:
    assert "--debug" in (internal_error(ValueError("x" * 999)).hint or "")
    assert len(str(internal_error(ValueError("x" * 999)))) < 300


CHECKED = Input(name="a", brokers=("k",))
EMPTY = Input(name="b")
UNREAD = Input(name="c", error=Problem(message="m"))
SKIPPED = Skipped(vantage="v", reason="r")
WARNING = Finding(rule="r", severity=Severity.WARNING, message="m", location=ContainerLocation(container="k"))
ERROR = replace(WARNING, severity=Severity.ERROR)


@pytest.mark.parametrize(
    ("report", "fail_on", "require_all", "status"),
    [
        (Report(inputs=(CHECKED,)), Severity.ERROR, False, ExitStatus.CLEAN),
        (Report(inputs=(CHECKED,), findings=(WARNING,)), Severity.ERROR, False, ExitStatus.CLEAN),
        (Report(inputs=(CHECKED,), findings=(WARNING,)), Severity.WARNING, False, ExitStatus.FINDINGS),
        (Report(inputs=(CHECKED,), findings=(WARNING, ERROR)), Severity.ERROR, False, ExitStatus.FINDINGS),
        (Report(inputs=(CHECKED, UNREAD), findings=(ERROR,)), Severity.ERROR, False, ExitStatus.COULD_NOT_LOOK),
        (Report(inputs=(EMPTY, UNREAD)), Severity.ERROR, False, ExitStatus.COULD_NOT_LOOK),
        (Report(), Severity.ERROR, False, ExitStatus.NOTHING_TO_CHECK),
        (Report(inputs=(EMPTY,)), Severity.ERROR, False, ExitStatus.NOTHING_TO_CHECK),
        (Report(inputs=(EMPTY, CHECKED)), Severity.ERROR, False, ExitStatus.CLEAN),
        (Report(inputs=(CHECKED,), skipped=(SKIPPED,)), Severity.ERROR, False, ExitStatus.CLEAN),
        (Report(inputs=(CHECKED,), skipped=(SKIPPED,)), Severity.ERROR, True, ExitStatus.COULD_NOT_LOOK),
        (Report(inputs=(CHECKED,), is_cut=True), Severity.ERROR, False, ExitStatus.CLEAN),
        (Report(inputs=(CHECKED,), is_cut=True), Severity.ERROR, True, ExitStatus.COULD_NOT_LOOK),
        (Report(inputs=(UNREAD,), interrupted=True), Severity.ERROR, False, ExitStatus.INTERRUPTED),
    ],
)
def test_status(report: Report, fail_on: Severity, require_all: bool, status: ExitStatus) -> None:
    assert status_of(report, fail_on=fail_on, require_all=require_all) is status


def test_the_numbers_are_a_contract() -> None:
    assert [int(status) for status in ExitStatus] == [0, 1, 2, 3, 4, 130, 143]
