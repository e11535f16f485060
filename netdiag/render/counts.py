"""Numbers with their nouns: "1 error, 2 warnings in 3 files"."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from netdiag.findings import Severity

if TYPE_CHECKING:
    from netdiag.render.report import Input, Report


def plural(count: int, noun: str) -> str:
    """A number and its noun."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def summary(report: "Report") -> str:
    """What was found in what, in one line."""
    read = [item for item in report.inputs if item.error is None]
    unread = [item for item in report.inputs if item.error is not None]
    failed = f"{_inputs(unread)} could not be checked" if unread else ""
    if not read:
        return failed or "nothing to check"
    brokers = sum(len(item.brokers) for item in read)
    parts = [
        plural(count, severity.value)
        for severity in Severity
        if (count := sum(finding.severity is severity for finding in report.findings))
    ]
    line = f"{', '.join(parts) or 'no findings'} in {_inputs(read)}"
    if brokers:
        line += f" ({plural(brokers, 'broker')})"
    overlooked = f"{len(report.suppressed)} suppressed" if report.suppressed else ""
    return "; ".join(filter(None, (line, overlooked, failed)))


def _inputs(items: "Sequence[Input]") -> str:
    kinds = {item.kind for item in items}
    return plural(len(items), kinds.pop() if len(kinds) == 1 else "input")
