"""pytest plugin: leaves pytest's own counts for the summary of `make test`, a line per run."""

import os
from pathlib import Path

import pytest

COUNTED = ("failed", "error", "passed", "skipped", "xfailed", "xpassed")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Write "12 passed, 1 skipped"; a process that pytest-xdist started counts nothing."""
    notes = os.environ.get("NETDIAG_COUNTS")
    if notes is None or hasattr(config, "workerinput"):
        return
    found = {word: len(terminalreporter.stats.get(word, ())) for word in COUNTED}
    line = ", ".join(f"{count} {word}" for word, count in found.items() if count)
    with Path(notes).open("a", encoding="utf-8") as file:
        file.write(f"{line or 'no tests'}\n")
