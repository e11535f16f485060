"""The exit statuses, the same for every command, and which one a report earns."""

from enum import IntEnum
from typing import TYPE_CHECKING

from netdiag.findings import Severity

if TYPE_CHECKING:
    # Loads the words of deployments, which not every command needs.
    from netdiag.render.report import Report


class ExitStatus(IntEnum):
    """Scripts rely on these numbers."""

    CLEAN = 0
    FINDINGS = 1
    USAGE = 2
    COULD_NOT_LOOK = 3
    NOTHING_TO_CHECK = 4
    INTERRUPTED = 130
    TERMINATED = 143


def status_of(report: "Report", *, fail_on: Severity, require_all: bool = False) -> ExitStatus:
    """Not having looked outweighs findings, which outweigh there being nothing to find."""
    if report.interrupted:
        return ExitStatus.INTERRUPTED
    if any(item.error for item in report.inputs) or (require_all and (report.skipped or report.is_cut)):
        return ExitStatus.COULD_NOT_LOOK
    if any(finding.severity.at_least(fail_on) for finding in report.findings):
        return ExitStatus.FINDINGS
    if not any(item.brokers for item in report.inputs):
        return ExitStatus.NOTHING_TO_CHECK
    return ExitStatus.CLEAN
