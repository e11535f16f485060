"""The command to run where rights are missing."""

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

DEFAULT_SOCKET = "unix:///var/run/docker.sock"


def sudo_line(argv: Sequence[str], engine: str) -> str:
    """This very command as root, who has another PATH, another home and none of our environment."""
    program = Path(argv[0])
    as_module = program.name == "__main__.py"
    words = [*([sys.executable, "-m", "netdiag"] if as_module else [os.path.abspath(program)]), *argv[1:]]
    if engine != DEFAULT_SOCKET and not any(word == "--host" or word.startswith("--host=") for word in words):
        words += ["--host", engine]
    return shlex.join(["sudo", *words])
