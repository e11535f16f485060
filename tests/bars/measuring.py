"""Figures from a target that is a program and no test: the same file that the fixture `figure` writes."""

import json
import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path


def report(name: str, value: float | int | str, unit: str = "") -> None:
    """Print a figure; hand it to `make bars` where that started this program."""
    print(f"{name}: {value} {unit}".rstrip(), flush=True)
    if notes := os.environ.get("NETDIAG_FIGURES"):
        with Path(notes).open("a", encoding="utf-8") as file:
            file.write(json.dumps({"name": name, "value": value, "unit": unit, "test": ""}) + "\n")


def timed(name: str, command: Sequence[str | Path], cwd: Path) -> int:
    """Run a command, report how long it took and, if it failed, with what; gives its status."""
    began = time.monotonic()
    status = subprocess.run(command, cwd=cwd, check=False, stdin=subprocess.DEVNULL).returncode
    report(name, round(time.monotonic() - began, 1), "s" if status == 0 else f"s, exit {status}")
    return status
