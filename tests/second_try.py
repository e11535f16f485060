"""Whether tests that failed do so again when nothing else runs: what tells a defect from an unsteady test.

A few tests that fail are run once more, one after another, in the same tree. One that fails again fails the run; one
that passes is named in the summary as unsteady, to be mended. More than a few are never tried again.
"""

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

# Above this something is broken, and trying again would only hide how much.
MOST = 12
# pytest: "tests were collected and run, but some of the tests failed".
_TESTS_FAILED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """How a command of pytest ended; `unsteady` are the tests that failed at first and passed alone."""

    status: int
    unsteady: tuple[str, ...] = ()


def run_pytest(
    command: Sequence[str], *, tree: Path, environment: Mapping[str, str], memory: Path, out: IO[str] | None = None
) -> Tried:
    """Run `command` (with "pytest" first) in `tree`; `memory` is an own folder in which pytest notes what failed.

    What it prints goes to `out`, or where this process prints.
    """
    shutil.rmtree(memory, ignore_errors=True)
    noting = (*command, "-o", f"cache_dir={memory}")
    errors = None if out is None else subprocess.STDOUT
    status = subprocess.run(noting, cwd=tree, env=environment, check=False, stdout=out, stderr=errors).returncode
    failed = _failed(memory)
    if status != _TESTS_FAILED or not 0 < len(failed) <= MOST:
        return Tried(status=status)
    print(f"\n== once more, alone: {' '.join(failed)}", file=out, flush=True)
    again = (*in_one_process(noting), "--last-failed", "--last-failed-no-failures", "none")
    if subprocess.run(again, cwd=tree, env=environment, check=False, stdout=out, stderr=errors).returncode != 0:
        return Tried(status=status)
    return Tried(status=0, unsteady=failed)


def in_one_process(command: Sequence[str]) -> tuple[str, ...]:
    """`command` without what spreads the tests over processes."""
    kept: list[str] = []
    words = iter(command)
    for word in words:
        if word in ("-n", "--maxprocesses"):
            next(words, None)
        else:
            kept.append(word)
    return tuple(kept)


def _failed(memory: Path) -> tuple[str, ...]:
    """The tests that pytest noted as failed."""
    try:
        noted = json.loads((memory / "v" / "cache" / "lastfailed").read_text())
    except (OSError, ValueError):
        return ()
    return tuple(sorted(noted)) if isinstance(noted, dict) else ()
