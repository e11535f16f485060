"""A report as text for people: findings with their source, then from where each address works, then a count."""

from netdiag.findings import Severity
from netdiag.render.findings.finding_text import SEVERITY_STYLES, SourceLines, finding_lines, grouped
from netdiag.render.findings.places import in_order
from netdiag.render.matrix.causes import explained_lines
from netdiag.render.matrix.matrix_text import matrix_lines
from netdiag.render.matrix.mesh import mesh_lines
from netdiag.render.matrix.security import security_lines
from netdiag.render.redact import redacted
from netdiag.render.report import Input, Report, Skipped, summary
from netdiag.render.screen import Line, Run, Screen, Style, paint

_BLANK: Line = ()


def render(report: Report, screen: Screen, *, matrix: bool = True, full: bool = False) -> str:
    """The text; equal reports and screens give equal text.

    Findings that tell the same of several brokers are drawn once, unless `full` is wanted.
    """
    sources = SourceLines(report.sources)
    blocks = [_unread(item, screen) for item in report.inputs if item.error]
    findings = in_order(report.findings)
    blocks += [finding_lines(group[0], sources, screen, likewise=group[1:]) for group in grouped(findings, full=full)]
    if matrix:
        several = len(report.inputs) > 1
        for item in report.matrices:
            if item.cells:
                blocks.append(matrix_lines(item, screen, named=several))
            if item.mesh and item.mesh.edges:
                blocks.append(mesh_lines(item.mesh, screen, name=item.input if several else ""))
            if item.causes:
                blocks.append(explained_lines(item.causes, screen))
    if report.security:
        blocks.append(security_lines(report.security, screen))
    blocks += [_without_brokers(item, screen) for item in report.inputs if not item.error and not item.brokers]
    if report.skipped:
        blocks.append([line for item in report.skipped for line in _skipped(item, screen)])
    if report.notes:
        blocks.append([(Run("note: ", Style.NOTE), screen.run(redacted(note))) for note in report.notes])
    if report.inputs:
        blocks.append([_summary(report)])
    lines = [line for block in blocks for line in (*block, _BLANK)]
    return paint(lines[:-1], screen)


def _unread(item: Input, screen: Screen) -> list[Line]:
    problem = item.error
    if problem is None:
        return []
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
        lines.append((Run("  fix: ", Style.PLACE), screen.run(problem.hint)))
    return lines


def _without_brokers(item: Input, screen: Screen) -> list[Line]:
    return [(screen.run(item.name, Style.BOLD), Run(": no Kafka broker in it"))]


def _skipped(item: Skipped, screen: Screen) -> list[Line]:
    lines: list[Line] = [
        (Run("not looked at: ", Style.WARNING), screen.run(item.vantage, Style.BOLD), screen.run(f": {item.reason}"))
    ]
    if item.command:
        lines.append((Run("  run: ", Style.PLACE), screen.run(item.command)))
    return lines


def _summary(report: Report) -> Line:
    worst = min((f.severity for f in report.findings), key=lambda s: -s.rank, default=None)
    failed = any(item.error for item in report.inputs)
    style = Style.ERROR if failed else SEVERITY_STYLES[worst] if worst else Style.GOOD
    if worst is Severity.NOTE and not failed:
        style = Style.PLAIN
    return (Run(summary(report), style),)
