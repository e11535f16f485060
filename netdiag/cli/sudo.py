"""The command to run where rights are missing, or the containers are on another machine."""

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

DEFAULT_SOCKET = "unix:///var/run/docker.sock"


def sudo_line(argv: Sequence[str], engine: str) -> str:
    """This very command as root, who has another PATH, another home and none of our environment."""
    words = [*_program(argv[0]), *argv[1:]]
    if engine != DEFAULT_SOCKET and not any(word == "--host" or word.startswith("--host=") for word in words):
        words += ["--host", engine]
    return shlex.join(["sudo", *words])


def via_line(argv: Sequence[str]) -> str:
    """This very command by a helper container on the engine's machine."""
    return shlex.join([*_program(argv[0]), *argv[1:], "--via", "container"])


def _program(name: str) -> list[str]:
    path = Path(name)
    return [sys.executable, "-m", "netdiag"] if path.name == "__main__.py" else [os.path.abspath(path)]
