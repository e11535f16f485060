"""The command to run where rights are missing."""

import os

import pytest

from netdiag.app.rerun import sudo_line, via_line
from tests.cli.shell import ROOT


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
