"""A report in the XML of checkstyle, which review bots and build servers read: a file, its findings."""

from xml.etree.ElementTree import Element, SubElement

from netdiag.findings import FileLocation, Finding, Severity
from netdiag.render.places import COULD_NOT_CHECK, file_text, in_order, plain
from netdiag.render.report import Report, file_of_error
from netdiag.render.xml_text import xml_text

_SEVERITIES = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "info"}


def render(report: Report, root: str = "") -> str:
    """The XML text; inputs without findings are files without errors, a container is a file of its name."""
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
    told = set[tuple[str, ...]]()
    for finding in in_order(report.findings):
        name, about = file_text(finding.location, root), _about(finding)
        if (name, *about.values()) not in told:
            told.add((name, *about.values()))
            SubElement(file(name), "error", about)
    return xml_text(top)


def _about(finding: Finding) -> dict[str, str]:
    line, column = 1, None
    if isinstance(finding.location, FileLocation):
        line, column = max(1, finding.location.line), max(1, finding.location.column)
    message = plain(finding.message) + (f"; {plain(finding.hint)}" if finding.hint else "")
    return {
        "line": str(line),
        **({"column": str(column)} if column else {}),
        "severity": _SEVERITIES[finding.severity],
        "message": message,
        "source": f"netdiag.{finding.rule}",
    }
