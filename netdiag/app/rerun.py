"""The command line that would see more: as root where rights are missing, from a helper container elsewhere."""

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

DEFAULT_SOCKET = "unix:///var/run/docker.sock"


def sudo_line(argv: Sequence[str], engine: str) -> str | None:
    """The command of this process as root, who has another PATH, another home and none of our environment.

    None where there is no command line, as in a notebook.
    """
    if not argv:
        return None
    words = [*_program(argv[0]), *_without_context(argv[1:])]
    if engine != DEFAULT_SOCKET and not any(word == "--host" or word.startswith("--host=") for word in words):
        words += ["--host", engine]
    return shlex.join(["sudo", *words])


def via_line(argv: Sequence[str]) -> str | None:
    """The command of this process by a helper container on the engine's machine; None without a command line."""
    return shlex.join([*_program(argv[0]), *argv[1:], "--via", "container"]) if argv else None


def _without_context(argv: Sequence[str]) -> list[str]:
    """The words without `--context NAME`: the contexts are those of this user."""
    words = iter(argv)
    found: list[str] = []
    for word in words:
        if word == "--context":
            next(words, None)
        elif not word.startswith("--context="):
            found.append(word)
    return found


def _program(name: str) -> list[str]:
    path = Path(name)
    return [sys.executable, "-m", "netdiag"] if path.name == "__main__.py" else [os.path.abspath(path)]
