"""`--why`: the causes of every connection that failed, put beside the matrix of a live check."""

from collections.abc import Mapping
from dataclasses import replace

from netdiag.cli.console import Console
from netdiag.errors import NetdiagError
from netdiag.linux.netns import Entrance
from netdiag.render.report import Report


def with_causes(report: Report, entrances: Mapping[str, Entrance], host: str | None, console: Console) -> Report:
    """The report with the causes of what failed; a note where the machine could not be looked at for them."""
    from netdiag.io.explaining import MOST, explain, unexplained
    from netdiag.io.topology import look

    asked = {matrix.input: unexplained(matrix.cells, entrances) for matrix in report.matrices}
    if not any(asked.values()):
        return report
    console.detail(f"asking why {sum(map(len, asked.values()))} connections fail")
    try:
        topology = look(host=host)
    except NetdiagError as error:
        console.handled(error)
        return replace(report, notes=(*report.notes, f"--why: {error}"))
    matrices = tuple(replace(one, causes=explain(topology, asked[one.input])) for one in report.matrices)
    more = sum(max(0, len(one) - MOST) for one in asked.values())
    notes = (f"--why: {more} more connections fail, the first {MOST} are explained",) if more else ()
    return replace(report, matrices=matrices, notes=(*report.notes, *notes))
