"""A report as GitLab's code quality JSON, a subset of Code Climate's: an array of issues, each with a fingerprint."""

import json
from typing import Any

from netdiag.findings import FileLocation, Finding, Location, Severity
from netdiag.render.findings.finding_text import COULD_NOT_CHECK, file_text, in_order, path_text, plain
from netdiag.render.findings.fingerprints import digest, fingerprints
from netdiag.render.report import Input, Problem, Report, file_of_error

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.NOTE: "info"}


def render(report: Report, root: str = "") -> str:
    """The JSON text, ASCII only; `root` is that of the repository, as GitLab knows files by their relative path."""
    findings = in_order(report.findings)
    prints = fingerprints(findings, report.sources, root)
    issues = [_unread(item, problem, root) for item, problem in report.unread]
    issues += [_issue(finding, key, root) for finding, key in zip(findings, prints, strict=True)]
    return json.dumps(issues, indent=2) + "\n"


def _issue(finding: Finding, fingerprint: str, root: str) -> dict[str, Any]:
    hint = f"; {plain(finding.hint)}" if finding.hint else ""
    # A broker that does not start is worse than one that starts and misleads its clients.
    stops = finding.severity is Severity.ERROR and finding.broker_prints
    return {
        "type": "issue",
        "check_name": finding.rule,
        "description": f"{plain(finding.message)}{hint}",
        "categories": ["Bug Risk"],
        "severity": "critical" if stops else _SEVERITIES[finding.severity],
        "fingerprint": fingerprint,
        "location": {"path": file_text(finding.location, root), "lines": _lines(finding.location)},
    }


def _lines(location: Location) -> dict[str, int]:
    """GitLab wants a line of everything, of a container or a capture as well."""
    if not isinstance(location, FileLocation):
        return {"begin": 1, "end": 1}
    line = max(1, location.line)
    return {"begin": line, "end": max(line, location.end_line)}


def _unread(item: Input, problem: Problem, root: str) -> dict[str, Any]:
    path, line = file_of_error(item, root)
    return {
        "type": "issue",
        "check_name": COULD_NOT_CHECK,
        "description": f"could not be checked: {plain(problem.message)}",
        "categories": ["Bug Risk"],
        "severity": "blocker",
        "fingerprint": digest(COULD_NOT_CHECK, path, path_text(item.name, root)),
        "location": {"path": path, "lines": {"begin": line, "end": line}},
    }
