"""A report with one line per finding, as compilers print them: path:line:column: severity rule message."""

from netdiag.render.places import COULD_NOT_CHECK, in_order, place_text, plain, unread_place
from netdiag.render.report import Report


def render(report: Report, root: str = "") -> str:
    """The lines; paths below the folder `root` are relative to it."""
    lines = [
        f"{unread_place(item, root)}: error {COULD_NOT_CHECK} {plain(item.error.message)}"
        for item in report.inputs
        if item.error
    ]
    lines += [
        f"{place_text(finding.location, root)}: {finding.severity.value} {finding.rule} {plain(finding.message)}"
        for finding in in_order(report.findings)
    ]
    return "".join(f"{line}\n" for line in lines)
