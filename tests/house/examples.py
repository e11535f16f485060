"""Commands shown in a document, executed: what README.md and the pages of docs show is what they print.

Every ```console block is a dialogue: `$ command`, then its output. All blocks of a document run in order in one
copy of the repository, with the environment's own netdiag first in PATH. In an output, a line `...` stands for any
lines, `…` inside a line for any characters.

`python -m tests.house.examples [FILE...]` writes the present output into these documents, or into all; blocks that hold
`...` or `…` are left as they are.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.house.tree import ROOT, files, name

ANY_LINES = "..."
ANY_TEXT = "…"
_FENCE = re.compile(r"^```console\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)

# What this very run is part of cannot be started from inside it: it is checked to be a target of the Makefile.
NOT_FROM_INSIDE = {"make test": "test", "make bars": "bars"}


# These bring files of their own, and have tests of their own.
WITH_FILES = {"CONTRIBUTING.md", "docs/configuration.md"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One command with the output that the document shows; `line` is where it stands, 1-based."""

    command: str
    output: tuple[str, ...]
    line: int


def documents() -> list[Path]:
    """Every document whose commands are executed in a copy of the repository as it is."""
    pages = [path for path in files() if path.suffix == ".md" and name(path) not in WITH_FILES]
    return [path for path in pages if _FENCE.search(path.read_text(encoding="utf-8"))]


def shown(document: str) -> Iterator[Shown]:
    """Every command of every console block, in order."""
    for block in _FENCE.finditer(document):
        first = document.count("\n", 0, block.start("body")) + 1
        current: Shown | None = None
        for number, line in enumerate(block["body"].splitlines(), first):
            if line.startswith("$ "):
                if current is not None:
                    yield current
                current = Shown(command=line[2:], output=(), line=number)
            elif current is None:
                raise ValueError(f"line {number}: a console block begins with a command, not with {line!r}")
            else:
                current = replace(current, output=(*current.output, line))
        if current is not None:
            yield current


def differs(expected: Iterable[str], actual: str) -> bool:
    """Whether the real output is none that the shown one allows; trailing spaces and blank lines do not count."""
    pattern = ""
    for line in _trimmed(expected):
        if line == ANY_LINES:
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*?".join(re.escape(part) for part in line.split(ANY_TEXT)) + r"\n"
    text = "".join(f"{line}\n" for line in _trimmed(actual.splitlines()))
    return re.fullmatch(pattern, text) is None


def copy_of_repository(folder: Path) -> Path:
    """The files of the repository in `folder`, with the environment that `make` made, if any."""
    for path in files():
        target = folder / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target, follow_symlinks=False)
    if (ROOT / ".venv").exists():
        (folder / ".venv").symlink_to(ROOT / ".venv")
    return folder


def execute(command: str, folder: Path, *, last_status: int, more: Mapping[str, str] | None = None) -> tuple[str, int]:
    """What a command prints to a pipe on both streams, and its status; `$?` is that of the command before."""
    env = {key: value for key, value in os.environ.items() if not key.startswith(("NETDIAG_", "PYTEST_", "DOCKER_"))}
    env |= {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}",
        "COLUMNS": "120",
        "NO_COLOR": "1",
        "TERM": "dumb",
        "LC_ALL": "C.UTF-8",
        "MAKEFLAGS": "",
        **(more or {}),
    }
    done = subprocess.run(
        ["bash", "-c", f"(exit {last_status})\n{command}"],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
        timeout=300,
    )
    return done.stdout, done.returncode


def update(document: str, folder: Path) -> str:
    """The document with every output as it is now."""
    lines = document.splitlines()
    status = 0
    now: list[tuple[Shown, str]] = []
    for one in shown(document):
        if one.command in NOT_FROM_INSIDE:
            continue
        output, status = execute(one.command, folder, last_status=status)
        if not any(ANY_TEXT in line or line == ANY_LINES for line in one.output):
            now.append((one, output))
    for one, output in reversed(now):
        lines[one.line : one.line + len(one.output)] = _trimmed(output.splitlines())
    return "\n".join(lines) + "\n"


def _trimmed(lines: Iterable[str]) -> list[str]:
    text = "\n".join(line.rstrip() for line in lines).strip("\n")
    return text.split("\n") if text else []


def main(arguments: list[str]) -> None:
    """Rewrite the documents."""
    for path in map(Path, arguments) if arguments else documents():
        with TemporaryDirectory() as folder:
            now = update(path.read_text(encoding="utf-8"), copy_of_repository(Path(folder)))
        path.write_text(now, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
