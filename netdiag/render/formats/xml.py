"""A report as XML for build servers and review bots: as JUnit's, and as checkstyle's.

JUnit: a suite per file, a case per finding, one passed case where all is well. The schema is that of Jenkins
(junit-10.xsd), which has no attribute for a file or a line: both are in the text. Errors and warnings are failures; a
note is a passed case with output; an input that could not be read is an error. Checkstyle: a file and its findings.
"""

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from netdiag.findings import FileLocation, Finding, Severity
from netdiag.render.findings.finding_text import COULD_NOT_CHECK, file_text, in_order, message_lines, place_text, plain
from netdiag.render.report import Input, Report, Skipped, file_of_error
from netdiag.values import dataclass

# How a suite counts outcomes. The schema lets the root count all but the last.
_JUNIT_COUNTS = {"failure": "failures", "error": "errors", "skipped": "skipped"}
_CHECK = "check-listeners"
_CHECKSTYLE_SEVERITIES = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "info"}


def junit(report: Report, root: str = "") -> str:
    """The report as JUnit XML. It holds no times: equal reports give equal bytes."""
    cases = [_finding_case(finding, root) for finding in in_order(report.findings)]
    suites = {case.suite for case in cases}
    inputs = [_input_case(item, root) for item in report.inputs]
    cases = [case for case in inputs if case.outcome or case.suite not in suites] + cases
    cases += [_skipped_case(item) for item in report.skipped]
    top = Element("testsuites", {"name": "netdiag", **_counts(cases, tuple(_JUNIT_COUNTS)[:2])})
    for name in dict.fromkeys(case.suite for case in cases):
        here = [case for case in cases if case.suite == name]
        suite = SubElement(top, "testsuite", {"name": name, **_counts(here, tuple(_JUNIT_COUNTS))})
        for case in here:
            _add_case(suite, case)
    return _xml_text(top)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """A test case; `outcome` is the element inside it, and None for a case that passed without a word."""

    suite: str
    name: str
    outcome: str | None = None
    kind: str = ""
    message: str = ""
    text: str = ""


def _input_case(item: Input, root: str) -> _Case:
    suite, _ = file_of_error(item, root)
    if item.error is None:
        return _Case(suite=suite, name=_CHECK)
    hint = f"fix: {plain(item.error.hint)}" if item.error.hint else ""
    return _Case(
        suite=suite,
        name=_CHECK,
        outcome="error",
        kind="error",
        message=plain(item.error.message),
        text=hint,
    )


def _finding_case(finding: Finding, root: str) -> _Case:
    place = place_text(finding.location, root)
    lines = [f"{place}: {finding.severity.value}: {plain(finding.message)}"]
    lines += [f"{place_text(r.location, root)}: {plain(r.message)}" for r in finding.related]
    lines += message_lines(finding)[1:]
    note = finding.severity is Severity.NOTE
    return _Case(
        suite=file_text(finding.location, root),
        name=f"{finding.rule} {place}",
        outcome="system-out" if note else "failure",
        kind="" if note else finding.severity.value,
        message="" if note else plain(finding.message),
        text="\n".join(lines),
    )


def _skipped_case(item: Skipped) -> _Case:
    command = f"run: {plain(item.command)}" if item.command else ""
    return _Case(
        suite="vantages", name=plain(item.vantage), outcome="skipped", message=plain(item.reason), text=command
    )


def _counts(cases: Sequence[_Case], outcomes: Sequence[str]) -> dict[str, str]:
    counts = {_JUNIT_COUNTS[one]: str(sum(case.outcome == one for case in cases)) for one in outcomes}
    return {"tests": str(len(cases)), **counts}


def _add_case(suite: Element, case: _Case) -> None:
    element = SubElement(suite, "testcase", {"classname": case.suite, "name": case.name})
    if case.outcome is None:
        return
    about = {name: value for name, value in (("type", case.kind), ("message", case.message)) if value}
    SubElement(element, case.outcome, about).text = case.text


def checkstyle(report: Report, root: str = "") -> str:
    """The report as checkstyle XML; a container is a file of its name, an input without findings one without errors."""
    top = Element("checkstyle", version="4.3")
    files: dict[str, Element] = {}

    def file(name: str) -> Element:
        if name not in files:
            files[name] = SubElement(top, "file", name=name)
        return files[name]

    for item in report.inputs:
        name, line = file_of_error(item, root)
        element = file(name)
        if item.error:
            about = {"severity": "error", "message": plain(item.error.message), "source": f"netdiag.{COULD_NOT_CHECK}"}
            SubElement(element, "error", {"line": str(line), **about})
    # two services of one text say the same at the same place, which checkstyle's schema forbids
    written = set[tuple[str, ...]]()
    for finding in in_order(report.findings):
        name, about = file_text(finding.location, root), _checkstyle_error(finding)
        if (name, *about.values()) not in written:
            written.add((name, *about.values()))
            SubElement(file(name), "error", about)
    return _xml_text(top)


def _checkstyle_error(finding: Finding) -> dict[str, str]:
    line, column = 1, None
    if isinstance(finding.location, FileLocation):
        line, column = max(1, finding.location.line), max(1, finding.location.column)
    message = plain(finding.message) + (f"; {plain(finding.hint)}" if finding.hint else "")
    return {
        "line": str(line),
        **({"column": str(column)} if column else {}),
        "severity": _CHECKSTYLE_SEVERITIES[finding.severity],
        "message": message,
        "source": f"netdiag.{finding.rule}",
    }


def _xml_text(root: Element) -> str:
    """The text; characters beyond ASCII are references, so that no encoding on the way can break it.

    What XML 1.0 forbids must not be in the tree: `places.plain` and `places.harmless` give none of it.
    """
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="us-ascii").decode("ascii")}\n'
