"""Checks of files in process."""

from pathlib import Path
from typing import Any

from netdiag.app.check import CheckResult, check
from netdiag.app.configuration import CheckOptions
from netdiag.app.progress import SILENT, Listener
from netdiag.errors import NetdiagError
from netdiag.io.files.projects import ReadOptions
from netdiag.render.report import Report


def result_of(
    *files: str | Path, read: ReadOptions | None = None, listener: Listener = SILENT, **options: Any
) -> CheckResult:
    """The result for these files, or for the project of the current folder; `options` are those of CheckOptions."""
    return check(CheckOptions(files=tuple(map(str, files)), read=read or ReadOptions(), **options), listener)


def report_of(*files: str | Path, read: ReadOptions | None = None, **options: Any) -> Report:
    """The report of that result, without any configuration file."""
    return result_of(*files, read=read, isolated=True, **options).report


def rules_of(report: Report) -> list[str]:
    """The rules of its findings."""
    return [finding.rule for finding in report.findings]


class Recorder:
    """A listener that keeps what it hears."""

    def __init__(self) -> None:
        self.details: list[str] = []
        self.notices: list[str] = []
        self.warnings: list[NetdiagError] = []
        self.progresses: list[str] = []
        self.errors: list[BaseException] = []

    def detail(self, text: str) -> None:
        self.details.append(text)

    def notice(self, text: str) -> None:
        self.notices.append(text)

    def warning(self, error: NetdiagError) -> None:
        self.warnings.append(error)

    def progress(self, text: str) -> None:
        self.progresses.append(text)

    def handled(self, error: BaseException) -> None:
        self.errors.append(error)
