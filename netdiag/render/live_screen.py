"""One picture of a watched matrix, as high and wide as the terminal: how it stands, the matrix, what changed last."""

from collections.abc import Sequence

from netdiag.deployment.verdict import Word
from netdiag.render.matrix_text import matrix_lines
from netdiag.render.mesh_text import mesh_lines
from netdiag.render.redact import redacted
from netdiag.render.report import Report
from netdiag.render.screen import Line, Run, Screen, Style, line_width, width
from netdiag.render.wording import plural

# So much of the picture at least is for the changes, where there are as many.
_SHARE_OF_CHANGES = 3


def picture(
    report: Report, told: Sequence[Line], screen: Screen, *, rows: int, columns: int, status: str
) -> list[Line]:
    """At most `rows` lines, none wider than `columns`; `told` are the lines of all changes, the latest first."""
    head: list[Line] = [_head(report, screen, status), *_troubles(report, screen)]
    several = len(report.inputs) > 1
    body: list[Line] = []
    for matrix in report.matrices:
        if matrix.cells:
            body += [(), *matrix_lines(matrix, screen, named=several)]
        if matrix.mesh is not None and matrix.mesh.edges:
            body += [(), *mesh_lines(matrix.mesh, screen, name=matrix.input if several else "")]
    body += _beside(report, screen)
    room = max(0, rows - len(head))
    lower = [(), (Run("Changes", Style.BOLD),)]
    least = min(len(told), max(1, room // _SHARE_OF_CHANGES)) + len(lower) if told else 0
    upper = _cut(body, max(0, room - least), screen)
    left = room - len(upper) - len(lower)
    latest = [*lower, *told[:left]] if told and left > 0 else []
    return [_clipped(line, columns, screen) for line in [*head, *upper, *latest][:rows]]


def _head(report: Report, screen: Screen, status: str) -> Line:
    cells = [cell.observed for matrix in report.matrices for cell in matrix.cells if cell.observed is not None]
    works = sum(verdict.usable for verdict in cells)
    partly = sum(verdict.word is Word.PARTIAL for verdict in cells)
    style = Style.GOOD if cells and works == len(cells) else Style.HALF
    text = f"{works} of {plural(len(cells), 'cell')} work" + (f", {partly} in part" if partly else "")
    return (Run(text, style), screen.run(f"  {status}", Style.DIM))


def _troubles(report: Report, screen: Screen) -> list[Line]:
    return [
        (
            screen.run(item.name, Style.BOLD),
            Run(": not looked at: ", Style.ERROR),
            screen.run(redacted(item.error.message)),
            Run("; below is what was seen last" if any(m.input == item.name for m in report.matrices) else ""),
        )
        for item in report.inputs
        if item.error is not None
    ]


def _beside(report: Report, screen: Screen) -> list[Line]:
    lines: list[Line] = [
        (screen.run(item.name, Style.BOLD), Run(": no Kafka broker in it"))
        for item in report.inputs
        if item.error is None and not item.brokers
    ]
    for item in report.skipped:
        lines.append((Run("not looked at: ", Style.WARNING), screen.run(f"{item.vantage}: {item.reason}")))
    lines += [(Run("note: ", Style.NOTE), screen.run(redacted(note))) for note in report.notes]
    if report.findings:
        text = f"{plural(len(report.findings), 'finding')}: check-listeners --live without --watch tells them"
        lines.append((Run(text, Style.DIM),))
    return [(), *lines] if lines else []


def _cut(lines: list[Line], rows: int, screen: Screen) -> list[Line]:
    if len(lines) <= rows:
        return lines
    left_out = len(lines) - rows + 1
    note = f"{screen.glyphs.ellipsis} {plural(left_out, 'more line')}: enlarge the window"
    return [*lines[: rows - 1], (Run(note, Style.DIM),)] if rows > 0 else []


def _clipped(line: Line, columns: int, screen: Screen) -> Line:
    """The line as far as it fits, so that a terminal need neither wrap nor scroll."""
    if line_width(line) <= columns:
        return line
    room = columns - width(screen.glyphs.ellipsis)
    runs: list[Run] = []
    for run in line:
        text = ""
        for character in run.text:
            if width(text + character) > room:
                return (*runs, Run(text, run.style), Run(screen.glyphs.ellipsis, Style.DIM))
            text += character
        room -= width(text)
        runs.append(run)
    return tuple(runs)
