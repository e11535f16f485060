"""pytest plugin: a bar that was broken off goes on with the tests that had not passed.

`make bars` names a file in NETDIAG_PASSED. Each test that passes adds a line with its figures and seconds; a run that
finds such lines leaves these tests out.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

VARIABLE = "NETDIAG_PASSED"


def passed(path: Path) -> Iterator[dict[str, Any]]:
    """`test`, `seconds` and `figures` of each test that has passed; a line that was cut off is none."""
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            yield json.loads(line)
        except ValueError:
            return


class _Notes:
    """Adds a line for each test that has passed to its end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if not report.passed:
            self.failed.add(report.nodeid)
        if report.when == "teardown" and report.nodeid not in self.failed:
            figures = [value for name, value in report.user_properties if name == "figure"]
            line = {"test": report.nodeid, "seconds": self.seconds[report.nodeid], "figures": figures}
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")


def pytest_configure(config: pytest.Config) -> None:
    """Only the process that sums up writes."""
    if (path := os.environ.get(VARIABLE)) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Notes(Path(path)))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what has passed."""
    if path := os.environ.get(VARIABLE):
        done = {line["test"] for line in passed(Path(path))}
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in done])
        items[:] = [item for item in items if item.nodeid not in done]
