"""pytest plugin: the `figure` fixture, with which a test reports what it measured.

`figure("cells compared", 132)` or `figure("live check of five brokers", 3.2, "s")`. Figures are printed at the end
of a run; `make bars` puts them into docs/bars.md.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measured value of one test."""

    name: str
    value: float | int | str
    unit: str
    test: str

    def __str__(self) -> str:
        number = f"{self.value:.3g}" if isinstance(self.value, float) else str(self.value)
        return f"{self.name}: {number} {self.unit}".rstrip()


class Report(Protocol):
    """What the fixture gives."""

    def __call__(self, name: str, value: float | int | str, unit: str = "") -> None: ...


_PROPERTY = "figure"


@pytest.fixture
def figure(request: pytest.FixtureRequest) -> Report:
    """Report a measured value under a name that says what was measured."""

    def report(name: str, value: float | int | str, unit: str = "") -> None:
        measured = Figure(name=name, value=value, unit=unit, test=request.node.nodeid)
        # the test's report carries it to the process that sums up, which need not be this one
        request.node.user_properties.append((_PROPERTY, asdict(measured)))

    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the figures; append them to the file named by NETDIAG_FIGURES."""
    figures = list(_reported(terminalreporter))
    if not figures or hasattr(config, "workerinput"):
        # a process that pytest-xdist started sums up nothing: its reports are with the one that started it
        return
    terminalreporter.section("figures")
    for measured in figures:
        terminalreporter.write_line(str(measured))
    if notes := os.environ.get("NETDIAG_FIGURES"):
        with Path(notes).open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(asdict(measured)) + "\n" for measured in figures)


def _reported(terminalreporter: pytest.TerminalReporter) -> Iterator[Figure]:
    """Each figure once: the report of a test's teardown has all of them."""
    # pytest files the reports of passed setups and teardowns under no name
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport) and report.when == "teardown":
                yield from (_figure(value) for name, value in report.user_properties if name == _PROPERTY)


def _figure(value: Any) -> Figure:
    return Figure(**value)
