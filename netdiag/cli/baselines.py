"""Baselines: `--write-baseline` keeps what is found, `--baseline` overlooks it from then on."""

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated

import typer

from netdiag.errors import NetdiagError
from netdiag.findings import Overlooked, Suppressed
from netdiag.io.files import read_file, write_file
from netdiag.render.report import Report

STALE = "stale-baseline"

Baseline = Annotated[
    str | None, typer.Option("--baseline", metavar="FILE", help="Overlook the findings that this file knows.")
]
WriteBaseline = Annotated[
    str | None, typer.Option("--write-baseline", metavar="FILE", help="Write the findings to a baseline, anew.")
]


def against(report: Report, path: str, ran: Callable[[str, str], bool]) -> Report:
    """The report without the findings that the baseline knows, with a note for each entry that matches nothing.

    `ran` tells whether a rule was looked for in a file.
    """
    from netdiag.render.findings.fingerprints import (
        baseline_entries,
        parse_baseline,
        stale_entries,
        unmatched_entries,
    )

    data = read_file(path)
    entries = parse_baseline(path, data)
    home = _home(path)
    known = {entry.fingerprint for entry in entries}
    found = baseline_entries(report.findings, report.sources, home)
    checked = {home(name): name for name in report.sources}
    old = stale_entries(
        path,
        data,
        unmatched_entries(entries, (entry for _, entry in found)),
        lambda entry: entry.path in checked and ran(entry.rule, checked[entry.path]),
    )
    return replace(
        report,
        findings=(*(finding for finding, entry in found if entry.fingerprint not in known), *old),
        suppressed=(
            *report.suppressed,
            *(
                Suppressed(finding=finding, by=Overlooked.BASELINE)
                for finding, entry in found
                if entry.fingerprint in known
            ),
        ),
        sources={**report.sources, path: data} if old else report.sources,
    )


def write(report: Report, path: str) -> Report:
    """Keep the findings in a file; the report says that they are known from now on."""
    from netdiag.render.findings.fingerprints import baseline_entries, render_baseline

    if any(item.error for item in report.inputs):
        raise NetdiagError("not written: not every input could be checked", where=path)
    found = baseline_entries(report.findings, report.sources, _home(path))
    write_file(path, render_baseline(entry for _, entry in found).encode())
    overlooked = (Suppressed(finding=finding, by=Overlooked.BASELINE) for finding, _ in found)
    return replace(report, findings=(), suppressed=(*report.suppressed, *overlooked))


def _home(baseline: str) -> Callable[[str], str]:
    """Gives paths as seen from the folder of the baseline, with slashes: they are the same on every machine."""
    folder = os.path.dirname(os.path.abspath(baseline))

    def seen(path: str) -> str:
        try:
            return os.path.relpath(os.path.abspath(path), folder).replace("\\", "/")
        except ValueError:
            # Another drive.
            return os.path.abspath(path).replace("\\", "/")

    return seen
