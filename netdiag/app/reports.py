"""Reports on several inputs as one, and the report on an input that could not be read."""

from collections.abc import Iterable
from dataclasses import replace

from netdiag.errors import NetdiagError
from netdiag.render.report import Input, Problem, Report


def merged(reports: Iterable[Report]) -> Report:
    """The reports as one, in their order; interrupted where one of them is."""
    parts = tuple(reports)
    return Report(
        inputs=tuple(item for part in parts for item in part.inputs),
        findings=tuple(finding for part in parts for finding in part.findings),
        suppressed=tuple(item for part in parts for item in part.suppressed),
        matrices=tuple(matrix for part in parts for matrix in part.matrices),
        security=tuple(port for part in parts for port in part.security),
        skipped=tuple(item for part in parts for item in part.skipped),
        notes=tuple(note for part in parts for note in part.notes),
        sources={path: data for part in parts for path, data in part.sources.items()},
        interrupted=any(part.interrupted for part in parts),
    )


def unread(item: Input, error: NetdiagError) -> Report:
    """The report on an input that gave nothing but an error."""
    problem = Problem(message=error.message, where=error.where, hint=error.hint)
    return Report(inputs=(replace(item, error=problem),))


def interrupted(items: Iterable[Input]) -> Report:
    """The report on inputs that were not reached before the user stopped the run."""
    return replace(merged(unread(item, NetdiagError("interrupted")) for item in items), interrupted=True)
