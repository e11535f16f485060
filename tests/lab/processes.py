"""Running commands of the machine and reporting what they said when they fail."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.lab.errors import LabError

_TAIL = 2000


def run(
    argv: Sequence[str | os.PathLike[str]],
    *,
    check: bool = True,
    timeout: float = 120.0,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdin: str | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run to the end, both outputs captured; `env` is added to the caller's environment."""
    words = [os.fspath(word) for word in argv]
    try:
        done = subprocess.run(
            words,
            input=stdin,
            stdin=None if stdin is not None else subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            env={**os.environ, **(env or {})},
            cwd=cwd,
        )
    except subprocess.TimeoutExpired as error:
        said = tail(_text(error.stdout) + _text(error.stderr))
        raise LabError(f"no end after {timeout:g} s: {' '.join(words)}\n{said}") from error
    except OSError as error:
        raise LabError(f"cannot run {words[0]!r}: {error}") from error
    if check and done.returncode != 0:
        said = tail(done.stdout + done.stderr)
        raise LabError(f"exit {done.returncode}: {' '.join(words)}\n{said}")
    return done


def tail(text: str, limit: int = _TAIL) -> str:
    """The end of a long output, where the reason is."""
    return text if len(text) <= limit else "[...] " + text[-limit:]


def start_time(pid: int) -> int | None:
    """The kernel's start tick of a live process; with the pid it names a process for good."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] == "Z" else int(fields[19])


def _text(output: bytes | str | None) -> str:
    if output is None:
        return ""
    return output if isinstance(output, str) else output.decode(errors="replace")
