"""Whole outputs kept as files: GOLDEN=write in the environment writes them anew instead of comparing."""

import difflib
import os
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "golden"
_MOST_LINES = 60


def assert_golden(name: str, text: str) -> None:
    """The text equals the kept file of that name, byte for byte."""
    path = FOLDER / name
    if os.environ.get("GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode())
    kept = path.read_bytes().decode() if path.exists() else ""
    if text != kept:
        pytest.fail(difference(name, kept, text), pytrace=False)


def difference(name: str, kept: str, text: str) -> str:
    """What changed in the file, line by line, and how to keep the new text."""
    lines = difflib.unified_diff(kept.splitlines(), text.splitlines(), f"golden/{name}", "now", n=1, lineterm="")
    shown = [line if line.isprintable() else ascii(line) for line in lines]
    left = len(shown) - _MOST_LINES
    more = [f"... and {left} more lines"] if left > 0 else [] if shown else ["only line endings differ"]
    test = os.environ.get("PYTEST_CURRENT_TEST", "").partition(" ")[0]
    return "\n".join((*shown[:_MOST_LINES], *more, f"GOLDEN=write pytest '{test}' writes it anew"))
