"""A report as GitHub workflow commands: annotations at the lines of a pull request.

The escaping is that of the runner: `%`, line ends, and in properties also `:` and `,`.
"""

from typing import assert_never

from netdiag.findings import ContainerLocation, FileLocation, Finding, Severity, TopologyLocation, WireLocation
from netdiag.render.findings.places import (
    COULD_NOT_CHECK,
    container_text,
    harmless,
    in_order,
    path_text,
    place_text,
    plain,
)
from netdiag.render.report import Input, Report, Skipped, file_of_error, place_of_error

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(report: Report, root: str = "") -> str:
    """One command per line; paths are relative to `root`, which should be that of the repository."""
    lines = [_unread(item, root) for item in report.inputs if item.error]
    lines += [_annotation(finding, root) for finding in in_order(report.findings)]
    lines += [_skipped(item) for item in report.skipped]
    return "".join(f"{line}\n" for line in lines)


def _annotation(finding: Finding, root: str) -> str:
    told = (("why", finding.why), ("the broker will print", finding.broker_prints), ("fix", finding.hint))
    text = "\n".join([plain(finding.message), *(f"{title}: {plain(words)}" for title, words in told if words)])
    properties = {"title": f"netdiag {finding.rule}"}
    match finding.location:
        case FileLocation():
            properties |= _position(finding.location, root)
        case ContainerLocation():
            text = f"{container_text(finding.location)}: {text}"
        case WireLocation() | TopologyLocation():
            text = f"{place_text(finding.location, root)}: {text}"
        case _:
            assert_never(finding.location)
    return _command(_COMMANDS[finding.severity], properties, text)


def _position(location: FileLocation, root: str) -> dict[str, str]:
    """Columns only within one line: GitHub refuses an annotation that has them over several."""
    line, column = max(1, location.line), max(1, location.column)
    end_line = max(line, location.end_line)
    position = {"file": harmless(path_text(location.path, root)), "line": str(line), "endLine": str(end_line)}
    if line == end_line:
        position |= {"col": str(column), "endColumn": str(max(column, location.end_column))}
    return position


def _unread(item: Input, root: str) -> str:
    properties = {"title": f"netdiag {COULD_NOT_CHECK}"}
    if item.kind == "file":
        path, line = file_of_error(item, root)
        properties |= {"file": path, "line": str(line)}
    text = f"{place_of_error(item, root)}: {plain(item.error.message) if item.error else ''}"
    if item.error and item.error.hint:
        text += f"\nfix: {plain(item.error.hint)}"
    return _command("error", properties, text)


def _skipped(item: Skipped) -> str:
    text = f"not looked at: {plain(item.vantage)}: {plain(item.reason)}"
    return _command("notice", {"title": "netdiag"}, text + (f"\nrun: {plain(item.command)}" if item.command else ""))


def _command(name: str, properties: dict[str, str], text: str) -> str:
    written = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{name} {written}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
