"""A report as text for people: findings with their source, then from where each address works, then a count.

`render_concise` has one line per finding, as compilers print them: path:line:column: severity rule message.
"""

from collections.abc import Iterator

from netdiag.findings import FileLocation, Finding, Severity
from netdiag.render.findings.finding_text import (
    COULD_NOT_CHECK,
    SEVERITY_STYLES,
    SourceLines,
    finding_lines,
    grouped,
    in_order,
    place_text,
    plain,
)
from netdiag.render.matrix.matrix_text import matrix_lines, no_broker_runs
from netdiag.render.redact import redacted
from netdiag.render.report import Input, Matrix, Problem, Report, Skipped, place_of_error, summary
from netdiag.render.screen import Line, Links, Run, Screen, Style, linked, paint

_BLANK: Line = ()


def render(report: Report, screen: Screen, *, matrix: bool = True, full: bool = False) -> str:
    """The text; equal reports and screens give equal text."""
    return paint(report_lines(report, screen, matrix=matrix, full=full), screen)


def report_lines(report: Report, screen: Screen, *, matrix: bool = True, full: bool = False) -> list[Line]:
    """The lines of the text. Findings that say the same of several brokers are drawn once, unless `full` is wanted."""
    sources = SourceLines(report.sources)
    blocks = [_unread(item, problem, screen) for item, problem in report.unread]
    findings = in_order(report.findings)
    blocks += [finding_lines(group[0], sources, screen, likewise=group[1:]) for group in grouped(findings, full=full)]
    if matrix:
        for item in report.matrices:
            blocks += _matrix(item, screen, named=len(report.inputs) > 1)
    if matrix and report.urls:
        from netdiag.render.matrix.urls import url_lines  # few stacks have them

        blocks += url_lines(report.urls, screen, named=len(report.inputs) > 1)
    if report.security:
        from netdiag.render.matrix.sections import security_lines  # what a live check saw alone needs it

        blocks.append(security_lines(report.security, screen))
    # Most jobs and manifests have nothing to do with Kafka.
    told = [item for item in report.inputs if item.kind not in ("job", "manifest") or len(report.inputs) == 1]
    blocks += [_without_brokers(item, screen) for item in told if not item.error and not item.brokers]
    if report.skipped:
        blocks.append([line for item in report.skipped for line in _skipped(item, screen)])
    if report.notes:
        blocks.append([(Run("note: ", Style.NOTE), screen.run(redacted(note))) for note in report.notes])
    if report.inputs:
        blocks.append([_summary(report)])
    lines = [line for block in blocks for line in (*block, _BLANK)]
    return lines[:-1]


def _matrix(matrix: Matrix, screen: Screen, *, named: bool) -> Iterator[list[Line]]:
    """The matrix of an input, and what a live check or --why puts below it; `named` puts the input into the titles."""
    if matrix.cells:
        yield matrix_lines(matrix, screen, named=named)
    if matrix.mesh and matrix.mesh.edges:
        from netdiag.render.matrix.sections import mesh_lines

        yield mesh_lines(matrix.mesh, screen, name=matrix.input if named else "")
    if matrix.causes and not no_broker_runs(matrix):
        from netdiag.render.matrix.sections import explained_lines

        yield explained_lines(matrix.causes, screen)


def _unread(item: Input, problem: Problem, screen: Screen) -> list[Line]:
    lines: list[Line] = [
        (
            screen.run(problem.where or item.name, Style.BOLD),
            Run(": "),
            Run("could not be checked", Style.ERROR),
            Run(": "),
            screen.run(redacted(problem.message), Style.BOLD),
        )
    ]
    if problem.hint:
        lines.append((Run("  fix: ", Style.PLACE), screen.run(redacted(problem.hint))))
    return lines


def _without_brokers(item: Input, screen: Screen) -> list[Line]:
    return [(screen.run(item.name, Style.BOLD), Run(": no Kafka broker found"))]


def _skipped(item: Skipped, screen: Screen) -> list[Line]:
    lines: list[Line] = [
        (Run("not checked: ", Style.WARNING), screen.run(item.vantage, Style.BOLD), screen.run(f": {item.reason}"))
    ]
    if item.command:
        lines.append((Run("  run: ", Style.PLACE), screen.run(item.command)))
    return lines


def _summary(report: Report) -> Line:
    worst = min((f.severity for f in report.findings), key=lambda s: -s.rank, default=None)
    failed = bool(report.unread)
    style = Style.ERROR if failed else SEVERITY_STYLES[worst] if worst else Style.GOOD
    if worst is Severity.NOTE and not failed:
        style = Style.PLAIN
    return (Run(summary(report), style),)


def render_concise(report: Report, root: str = "", links: Links | None = None) -> str:
    """The lines; paths below the folder `root` are relative to it, and `links` lead from places and rules."""
    lines = [
        f"{place_of_error(item, root)}: error {COULD_NOT_CHECK} {plain(problem.message)}"
        for item, problem in report.unread
    ]
    lines += [_concise_line(finding, root, links) for finding in in_order(report.findings)]
    return "".join(f"{line}\n" for line in lines)


def _concise_line(finding: Finding, root: str, links: Links | None) -> str:
    place, rule = place_text(finding.location, root), finding.rule
    if links is not None:
        path = finding.location.path if isinstance(finding.location, FileLocation) else ""
        place = linked(place, links.to_file(path) if path else "")
        rule = linked(rule, links.to_rule(rule))
    return f"{place}: {finding.severity.value} {rule} {plain(finding.message)}"
