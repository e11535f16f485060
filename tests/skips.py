"""pytest plugin: a skip is allowed only for a reason that is written down here; any other skip is a failure.

What was skipped is listed at the end with why it may be, and left for the summary of `make test`.
"""

import os
import re
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedSkip:
    """A reason, and why nobody can do better; `in_ci` tells whether CI may lack it too."""

    reason: str
    why: str
    in_ci: bool = False


ALLOWED = (
    AllowedSkip(
        reason=r"^shared corpus absent",
        why="the corpus of found compose files and captures is not part of the repository",
        in_ci=True,
    ),
    AllowedSkip(
        # every reason of tests.lab.prerequisites.missing, and of tests that need a part of the lab only
        reason=r"^(the lab cannot run here: |the lab needs Linux|not root: the lab|no command '|no cgroup file system"
        r"|no rights or no kernel support for namespaces|the kernel has no overlay)",
        why="the lab is a Docker Engine of its own, on Linux, in network namespaces",
    ),
    AllowedSkip(
        # every reason of tests.tools
        reason=r"^no tool '",
        why="what other readers say of a capture needs those readers; make test as root installs them",
    ),
    AllowedSkip(
        reason=r"^no Java: ",
        why="Spark runs on Java; .ci/java gets one where there is a package or a wheel of it",
    ),
    AllowedSkip(
        reason=r"^needs root\b",
        why="what only root may do is tested by root",
    ),
)


def allowed(reason: str, *, in_ci: bool) -> AllowedSkip | None:
    """The entry that covers this reason here."""
    return next((entry for entry in ALLOWED if re.search(entry.reason, reason) and (entry.in_ci or not in_ci)), None)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Judge the skip of one test."""
    report = yield
    _judge(report)
    return report


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Judge the skip of a whole module."""
    report = yield
    _judge(report)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """List what did not run; the same lines go to the file that `make test` reads."""
    lines = list(dict.fromkeys(filter(None, map(_line, terminalreporter.stats.get("skipped", ())))))
    if not lines or hasattr(config, "workerinput"):
        # a process that pytest-xdist started sums up nothing: its reports are with the one that started it
        return
    terminalreporter.section("could not run")
    for line in lines:
        terminalreporter.write_line(line)
    if notes := os.environ.get("NETDIAG_NOT_RUN"):
        with Path(notes).open("a", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)


def _judge(report: pytest.TestReport | pytest.CollectReport) -> None:
    if not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = _reason(report)
    if allowed(reason, in_ci=_in_ci()) is None:
        report.outcome = "failed"
        where = "in CI" if _in_ci() else "anywhere"
        report.longrepr = f"skipped, which tests/skips.py does not allow {where}: {reason}"


def _line(report: pytest.TestReport | pytest.CollectReport) -> str | None:
    """What the list says of a skip that was let through, wherever the test ran."""
    reason = _reason(report)
    entry = allowed(reason, in_ci=_in_ci())
    return f"{report.nodeid.partition('::')[0]}: {reason} ({entry.why})" if entry else None


def _in_ci() -> bool:
    return os.environ.get("CI") == "true"


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    said = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return said.removeprefix("Skipped: ")
