"""A bound on what is told of one rule, so that a list of thousands of wrong entries is no report of a hundred MB.

Of what one rule finds in one service of one file the first are kept, of every severity: what they say of the whole,
and with it the exit status, stays. A note says how many are left out.
"""

from collections import Counter
from dataclasses import replace
from typing import assert_never

from netdiag.findings import ContainerLocation, FileLocation, Finding, Location, TopologyLocation, WireLocation
from netdiag.render.places import harmless
from netdiag.render.report import Report

# More than anybody reads, and more than any file has that a person wrote.
MOST = 200


def without_crowds(report: Report) -> Report:
    """The report with at most `MOST` findings of one kind at one place, and a note for each kind cut short."""
    if len(report.findings) + len(report.suppressed) <= MOST:
        return report
    counts: Counter[tuple[str, ...]] = Counter()
    kept = [finding for finding in report.findings if _is_early(finding, counts)]
    known: Counter[tuple[str, ...]] = Counter()
    suppressed = [item for item in report.suppressed if _is_early(item.finding, known)]
    notes = tuple(_note(kind, count) for kind, count in counts.items() if count > MOST)
    if len(kept) + len(suppressed) == len(report.findings) + len(report.suppressed):
        return report
    return replace(report, findings=tuple(kept), suppressed=tuple(suppressed), notes=(*report.notes, *notes))


def _is_early(finding: Finding, counts: Counter[tuple[str, ...]]) -> bool:
    kind = (_where(finding.location), finding.service or "", finding.rule, finding.severity.value)
    counts[kind] += 1
    return counts[kind] <= MOST


def _where(location: Location) -> str:
    match location:
        case FileLocation():
            return location.path
        case ContainerLocation():
            return location.container
        case WireLocation():
            return location.file
        case TopologyLocation():
            return location.place
        case _:
            assert_never(location)


def _note(kind: tuple[str, ...], count: int) -> str:
    where, service, rule, severity = map(harmless, kind)
    of = f" in {service}" if service else ""
    return f"{where}: {count} findings of {rule}{of} ({severity}), the first {MOST} of them are shown"
