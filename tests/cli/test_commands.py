"""The commands are found by name, and say of themselves what the list says of them."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

from netdiag.cli.commands import COMMANDS
from tests.cli.shell import netdiag
from tests.cli.test_main import loaded


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_says_what_the_command_says(name: str) -> None:
    entry = COMMANDS[name]
    function = getattr(import_module(entry.module), entry.function)
    assert re.sub(r"\s+", " ", inspect.getdoc(function) or "").startswith(entry.help)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_can_be_called_for_help(name: str, tmp_path: Path) -> None:
    assert netdiag(name, "--help", cwd=tmp_path).stdout.startswith(f"Usage: netdiag {name} ".encode())


def test_the_list_of_commands_is_complete(tmp_path: Path) -> None:
    listed = re.findall(r"^  ([a-z][\w-]+)  ", netdiag("--help", cwd=tmp_path).stdout.decode(), re.MULTILINE)
    assert listed[-len(COMMANDS) :] == list(COMMANDS)


def test_a_command_does_not_load_the_others(tmp_path: Path) -> None:
    """Python names every module that it loads on standard error when it is asked for their times."""
    for words, without in ((["rules"], "netdiag.traffic.engine"), (["exchanges", "--help"], "netdiag.rules")):
        assert not {name for name in loaded("-m", "netdiag", *words, cwd=tmp_path) if name.startswith(without)}
