"""Numbers with their nouns: "1 error, 2 warnings in 3 files"."""

from netdiag.findings import Severity
from netdiag.render.report import Report


def plural(count: int, noun: str) -> str:
    """A number and its noun."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def summary(report: Report) -> str:
    """What was found in what, in one line."""
    read = [item for item in report.inputs if item.error is None]
    unread = len(report.inputs) - len(read)
    brokers = sum(len(item.brokers) for item in read)
    parts = [
        plural(count, severity.value)
        for severity in Severity
        if (count := sum(finding.severity is severity for finding in report.findings))
    ]
    line = f"{', '.join(parts) or 'no findings'} in {plural(len(read), 'file')}"
    if brokers:
        line += f" ({plural(brokers, 'broker')})"
    return f"{line}; {plural(unread, 'file')} could not be read" if unread else line
