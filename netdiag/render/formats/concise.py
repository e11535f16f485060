"""A report with one line per finding, as compilers print them: path:line:column: severity rule message."""

from netdiag.findings import FileLocation, Finding
from netdiag.render.findings.places import COULD_NOT_CHECK, in_order, place_text, plain
from netdiag.render.report import Report, place_of_error
from netdiag.render.screen import Links, linked


def render(report: Report, root: str = "", links: Links | None = None) -> str:
    """The lines; paths below the folder `root` are relative to it, and `links` lead from places and rules."""
    lines = [
        f"{place_of_error(item, root)}: error {COULD_NOT_CHECK} {plain(problem.message)}"
        for item, problem in report.unread
    ]
    lines += [_line(finding, root, links) for finding in in_order(report.findings)]
    return "".join(f"{line}\n" for line in lines)


def _line(finding: Finding, root: str, links: Links | None) -> str:
    place, rule = place_text(finding.location, root), finding.rule
    if links is not None:
        path = finding.location.path if isinstance(finding.location, FileLocation) else ""
        place = linked(place, links.to_file(path) if path else "")
        rule = linked(rule, links.to_rule(rule))
    return f"{place}: {finding.severity.value} {rule} {plain(finding.message)}"
