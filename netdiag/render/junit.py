"""A report as JUnit XML, for build servers: a suite per file, a case per finding, one passed case where all is well.

The schema is that of Jenkins (junit-10.xsd), which has no attribute for a file or a line: both are in the text.
Errors and warnings are failures; a note is a passed case with output; an input that could not be read is an error.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement

from netdiag.findings import Finding, Severity
from netdiag.render.places import file_text, in_order, place_text, plain
from netdiag.render.report import Input, Report, Skipped, file_of_error
from netdiag.render.xml_text import xml_text

# How a suite counts outcomes. The schema lets the root count all but the last.
_COUNTS = {"failure": "failures", "error": "errors", "skipped": "skipped"}
_CHECK = "check-listeners"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """A test case; `outcome` is the element inside it, and None for a case that passed without a word."""

    suite: str
    name: str
    outcome: str | None = None
    kind: str = ""
    message: str = ""
    text: str = ""


def render(report: Report, root: str = "") -> str:
    """The XML text. It holds no times: equal reports give equal bytes."""
    cases = [_of_finding(finding, root) for finding in in_order(report.findings)]
    told = {case.suite for case in cases}
    inputs = [_of_input(item, root) for item in report.inputs]
    cases = [case for case in inputs if case.outcome or case.suite not in told] + cases
    cases += [_of_skipped(item) for item in report.skipped]
    top = Element("testsuites", {"name": "netdiag", **_counted(cases, tuple(_COUNTS)[:2])})
    for name in dict.fromkeys(case.suite for case in cases):
        here = [case for case in cases if case.suite == name]
        suite = SubElement(top, "testsuite", {"name": name, **_counted(here, tuple(_COUNTS))})
        for case in here:
            _add(suite, case)
    return xml_text(top)


def _counted(cases: Sequence[_Case], outcomes: Sequence[str]) -> dict[str, str]:
    counts = {_COUNTS[one]: str(sum(case.outcome == one for case in cases)) for one in outcomes}
    return {"tests": str(len(cases)), **counts}


def _add(suite: Element, case: _Case) -> None:
    element = SubElement(suite, "testcase", {"classname": case.suite, "name": case.name})
    if case.outcome is None:
        return
    about = {name: value for name, value in (("type", case.kind), ("message", case.message)) if value}
    SubElement(element, case.outcome, about).text = case.text


def _of_input(item: Input, root: str) -> _Case:
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


def _of_finding(finding: Finding, root: str) -> _Case:
    place = place_text(finding.location, root)
    lines = [f"{place}: {finding.severity.value}: {plain(finding.message)}"]
    lines += [f"{place_text(r.location, root)}: {plain(r.message)}" for r in finding.related]
    told = (("why", finding.why), ("the broker will print", finding.broker_prints), ("fix", finding.hint))
    lines += [f"{title}: {plain(text)}" for title, text in told if text]
    note = finding.severity is Severity.NOTE
    return _Case(
        suite=file_text(finding.location, root),
        name=f"{finding.rule} {place}",
        outcome="system-out" if note else "failure",
        kind="" if note else finding.severity.value,
        message="" if note else plain(finding.message),
        text="\n".join(lines),
    )


def _of_skipped(item: Skipped) -> _Case:
    command = f"run: {plain(item.command)}" if item.command else ""
    return _Case(
        suite="vantages", name=plain(item.vantage), outcome="skipped", message=plain(item.reason), text=command
    )
