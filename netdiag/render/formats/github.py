"""A report as GitHub workflow commands: annotations at the lines of a pull request.

The escaping is that of the runner: `%`, line ends, and in properties also `:` and `,`.
"""

from netdiag.findings import FileLocation, Finding, Severity
from netdiag.render.findings.finding_text import (
    COULD_NOT_CHECK,
    harmless,
    in_order,
    message_lines,
    path_text,
    place_text,
    plain,
)
from netdiag.render.report import Input, Problem, Report, Skipped, file_of_error, place_of_error

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(report: Report, root: str = "") -> str:
    """One command per line; paths are relative to `root`, which should be that of the repository."""
    lines = [_unread(item, problem, root) for item, problem in report.unread]
    lines += [_annotation(finding, root) for finding in in_order(report.findings)]
    lines += [_skipped(item) for item in report.skipped]
    return "".join(f"{line}\n" for line in lines)


def _annotation(finding: Finding, root: str) -> str:
    text = "\n".join(message_lines(finding))
    properties = {"title": f"netdiag {finding.rule}"}
    if isinstance(finding.location, FileLocation):
        properties |= _position(finding.location, root)
    else:
        text = f"{place_text(finding.location, root)}: {text}"
    return _command(_COMMANDS[finding.severity], properties, text)


def _position(location: FileLocation, root: str) -> dict[str, str]:
    """Columns only within one line: GitHub refuses an annotation that has them over several."""
    line, column = max(1, location.line), max(1, location.column)
    end_line = max(line, location.end_line)
    position = {"file": harmless(path_text(location.path, root)), "line": str(line), "endLine": str(end_line)}
    if line == end_line:
        position |= {"col": str(column), "endColumn": str(max(column, location.end_column))}
    return position


def _unread(item: Input, problem: Problem, root: str) -> str:
    properties = {"title": f"netdiag {COULD_NOT_CHECK}"}
    if item.kind == "file":
        path, line = file_of_error(item, root)
        properties |= {"file": path, "line": str(line)}
    text = f"{place_of_error(item, root)}: {plain(problem.message)}"
    if problem.hint:
        text += f"\nfix: {plain(problem.hint)}"
    return _command("error", properties, text)


def _skipped(item: Skipped) -> str:
    text = f"not checked: {plain(item.vantage)}: {plain(item.reason)}"
    return _command("notice", {"title": "netdiag"}, text + (f"\nrun: {plain(item.command)}" if item.command else ""))


def _command(name: str, properties: dict[str, str], text: str) -> str:
    written = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{name} {written}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
