"""A report in any format, as check-listeners writes it into a file: a new format is in every test that asks for all."""

from netdiag.cli.console import Console
from netdiag.cli.outputs import Format, Output, rendered
from netdiag.render.report import Report

# Text and version 1 of JSON name a file as the user did.
RELATIVE = tuple(form for form in Format if form not in (Format.TEXT, Format.JSON))


def in_format(form: Format, report: Report, root: str = "") -> str:
    """The whole text."""
    return rendered(Output(format=form, path="a file"), report, Console(), root, matrix=True)
