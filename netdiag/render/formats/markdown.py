"""A report as GitHub-flavoured markdown, for a comment on a pull request: a table of findings, the matrix folded away.

Foreign text is escaped character by character: no markup, HTML, link, mention or issue number comes out of it.
"""

import re
from collections.abc import Iterable

from netdiag.findings import Finding, Severity
from netdiag.patterns import regex
from netdiag.render.findings.finding_text import explanations, harmless, in_order, path_text, place_text, plain
from netdiag.render.matrix.matrix_text import matrix_lines
from netdiag.render.report import Input, Matrix, Problem, Report, Skipped, place_of_error, summary
from netdiag.render.screen import Screen, paint

# A comment says first whose it is, so that the next run can find and replace it.
MARK = "<!-- netdiag check-listeners -->"

# GitHub and GitLab refuse longer comments (65,536 characters; GitLab a million).
_LONGEST = 60_000
_WIDE = 140
_SIGNS = {Severity.ERROR: "❌ error", Severity.WARNING: "⚠️ warning", Severity.NOTE: "ℹ️ note"}
_TITLES = {"fix": "**fix**"}
_MARKUP = regex(r"[\\`*_{}\[\]()<>&|~$^!=+\"']")
# Found in the finished page, after entities are resolved: only something between the characters prevents them.
_REFERENCE = regex(r"(?<=[@#])(?=\w)")
_ADDRESS = regex(r":(?=//)|(?<=\bwww)\.", re.IGNORECASE)


def render(report: Report, root: str = "") -> str:
    """The markdown; what would make the comment too long is counted instead."""
    blocks = [f"{MARK}\n**netdiag**: {escaped(summary(report))}"]
    blocks += [_unread(item, problem, root) for item, problem in report.unread]
    findings = in_order(report.findings)
    if findings:
        blocks.append(_table(findings, root, _LONGEST - sum(map(len, blocks))))
    several = len(report.inputs) > 1
    for matrix in report.matrices:
        details = _matrix(matrix, root, named=several) if matrix.cells else ""
        if details and sum(map(len, blocks)) + len(details) < _LONGEST:
            blocks.append(details)
    remarks = [_skipped(item) for item in report.skipped] + [f"- {escaped(plain(note))}" for note in report.notes]
    if remarks:
        blocks.append("\n".join(_fitting(remarks, _LONGEST - sum(map(len, blocks)), "- and {} more")))
    return "\n\n".join(blocks) + "\n"


def escaped(text: str) -> str:
    """Text that markdown shows as it is, inside a table as well."""
    entities = _MARKUP.sub(lambda match: f"&#{ord(match[0])};", _REFERENCE.sub("\0", text))
    return _ADDRESS.sub(lambda match: f"&#{ord(match[0])};", entities).replace("\0", "<!-- -->")


def _table(findings: Iterable[Finding], root: str, room: int) -> str:
    rows = [_row(finding, root) for finding in findings]
    head = ["| | Where | What |", "|---|---|---|"]
    return "\n".join(head + _fitting(rows, room, "| | | and {} more |"))


def _row(finding: Finding, root: str) -> str:
    what = [f"{escaped(plain(finding.message))} ({escaped(finding.rule)})"]
    what += [f"{_TITLES.get(title, title)}: {escaped(plain(text))}" for title, text in explanations(finding)]
    where = [escaped(place_text(finding.location, root))]
    where += [f"{escaped(place_text(r.location, root))}: {escaped(plain(r.message))}" for r in finding.related]
    return f"| {_SIGNS[finding.severity]} | {'<br>'.join(where)} | {'<br>'.join(what)} |"


def _fitting(lines: list[str], room: int, rest: str) -> list[str]:
    """As many lines as there is room for, and how many more there are."""
    kept: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            return [*kept, rest.format(len(lines) - len(kept))]
        kept.append(line)
    return kept


def _unread(item: Input, problem: Problem, root: str) -> str:
    hint = f"<br>**fix**: {escaped(plain(problem.hint))}" if problem.hint else ""
    return f"❌ {escaped(place_of_error(item, root))}: could not be checked: {escaped(plain(problem.message))}{hint}"


def _matrix(matrix: Matrix, root: str, *, named: bool) -> str:
    """The table of the text output, preformatted: columns keep their widths, and nothing in it is markup."""
    text = paint(matrix_lines(matrix, Screen(width=_WIDE), named=False), Screen(width=_WIDE))
    body = _plain_lines(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").rstrip("\n")
    title = "Where clients can connect" + (f": {escaped(harmless(path_text(matrix.input, root)))}" if named else "")
    return f"<details>\n<summary>{title}</summary>\n\n<pre>\n{body}\n</pre>\n\n</details>"


def _plain_lines(text: str) -> str:
    """Several lines of text that a screen has made harmless, secrets hidden."""
    return "\n".join(plain(line) for line in text.split("\n"))


def _skipped(item: Skipped) -> str:
    command = f"; run: {escaped(plain(item.command))}" if item.command else ""
    return f"- not checked: {escaped(plain(item.vantage))}: {escaped(plain(item.reason))}{command}"
