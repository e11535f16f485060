"""Which number a report earns."""

from dataclasses import replace

import pytest

from netdiag.cli.exit_status import ExitStatus, status_of
from netdiag.findings import ContainerLocation, Finding, Severity
from netdiag.render.report import Input, Problem, Report, Skipped

CLEAN = Input(name="a", brokers=("k",))
EMPTY = Input(name="b")
UNREAD = Input(name="c", error=Problem(message="m"))
SKIPPED = Skipped(vantage="v", reason="r")
WARNING = Finding(rule="r", severity=Severity.WARNING, message="m", location=ContainerLocation(container="k"))
ERROR = replace(WARNING, severity=Severity.ERROR)


@pytest.mark.parametrize(
    ("report", "fail_on", "require_all", "status"),
    [
        (Report(inputs=(CLEAN,)), Severity.ERROR, False, ExitStatus.CLEAN),
        (Report(inputs=(CLEAN,), findings=(WARNING,)), Severity.ERROR, False, ExitStatus.CLEAN),
        (Report(inputs=(CLEAN,), findings=(WARNING,)), Severity.WARNING, False, ExitStatus.FINDINGS),
        (Report(inputs=(CLEAN,), findings=(WARNING, ERROR)), Severity.ERROR, False, ExitStatus.FINDINGS),
        (Report(inputs=(CLEAN, UNREAD), findings=(ERROR,)), Severity.ERROR, False, ExitStatus.COULD_NOT_LOOK),
        (Report(inputs=(EMPTY, UNREAD)), Severity.ERROR, False, ExitStatus.COULD_NOT_LOOK),
        (Report(), Severity.ERROR, False, ExitStatus.NOTHING_TO_CHECK),
        (Report(inputs=(EMPTY,)), Severity.ERROR, False, ExitStatus.NOTHING_TO_CHECK),
        (Report(inputs=(EMPTY, CLEAN)), Severity.ERROR, False, ExitStatus.CLEAN),
        (Report(inputs=(CLEAN,), skipped=(SKIPPED,)), Severity.ERROR, False, ExitStatus.CLEAN),
        (Report(inputs=(CLEAN,), skipped=(SKIPPED,)), Severity.ERROR, True, ExitStatus.COULD_NOT_LOOK),
        (Report(inputs=(UNREAD,), interrupted=True), Severity.ERROR, False, ExitStatus.INTERRUPTED),
    ],
)
def test_status(report: Report, fail_on: Severity, require_all: bool, status: ExitStatus) -> None:
    assert status_of(report, fail_on=fail_on, require_all=require_all) is status


def test_the_numbers_are_a_contract() -> None:
    assert [int(status) for status in ExitStatus] == [0, 1, 2, 3, 4, 130, 143]
