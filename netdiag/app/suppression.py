"""Findings that the user does not want to hear of: rules not chosen, comments in the files, and a baseline.

`# netdiag: ignore[rule, rule] reason` at the end of a line applies to that line. On a line of its own it applies to the
key or list item below; if that is a service, to every finding about the service, wherever the value is set.
`# netdiag: ignore-file[rule]` before the first key applies to the whole file. One that ignores nothing is a finding.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from itertools import islice

from netdiag.app.configuration import CheckOptions
from netdiag.app.progress import Listener
from netdiag.app.reports import merged
from netdiag.compose.positions import Source
from netdiag.compose.yaml_tree import Comment, read_comments
from netdiag.errors import NetdiagError
from netdiag.findings import FileLocation, Finding, Location, Overlooked, Severity, Suppressed
from netdiag.io.files import read_file, write_file
from netdiag.patterns import regex
from netdiag.render.report import Report
from netdiag.render.wording import plural
from netdiag.rules.compose import COMPOSE
from netdiag.rules.declared import DECLARED
from netdiag.rules.selection import WITHOUT_RULE, Selection, UnknownRule, expanded, known_ids
from netdiag.values import dataclass

UNUSED = "unused-ignore"
_MARK = "netdiag:"
_ASKS = regex(r"#\s*netdiag:\s*(?P<verb>[\w-]*)\s*(?:\[(?P<rules>[^\]]*)\])?\s*(?P<reason>.*)")
# More than anybody writes; what is left unread suppresses nothing.
_MOST = 500


class Scope(Enum):
    """What a comment applies to."""

    LINE = "line"
    BLOCK = "block"
    FILE = "file"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignore:
    """One id pattern of one comment; `start` and `end` are its characters in the comment."""

    pattern: str
    rules: frozenset[str]
    reason: str
    scope: Scope
    comment: Comment
    start: int
    end: int
    problem: str = ""

    def covers(self, finding: Finding) -> bool:
        """Whether the comment ignores the finding."""
        if finding.rule not in self.rules:
            return False
        if self._holds(finding.location):
            return True
        if self.scope is Scope.BLOCK:
            return self.comment.service is not None and self.comment.service == finding.service
        return self.scope is Scope.LINE and any(self._holds(related.location) for related in finding.related)

    def _holds(self, place: Location) -> bool:
        if not isinstance(place, FileLocation) or place.path != self.comment.span.path:
            return False
        return self.scope is Scope.FILE or self.comment.first_line <= place.line <= self.comment.last_line


def read_ignores(sources: Mapping[str, bytes]) -> tuple[Ignore, ...]:
    """The ids that the comments of these files ignore, in the order of files and lines."""
    comments = (c for path, data in sources.items() for c in read_comments(Source(path, data), _MARK))
    return tuple(islice((ignore for comment in comments for ignore in _asked(comment)), _MOST))


def covering(finding: Finding, ignores: Iterable[Ignore]) -> tuple[Ignore, ...]:
    """Those that ignore the finding."""
    return tuple(ignore for ignore in ignores if ignore.covers(finding))


def unused(ignores: Iterable[Ignore], used: Iterable[Ignore], ran: Callable[[str, str], bool]) -> tuple[Finding, ...]:
    """A finding for every id that ignores nothing; `ran` says whether a rule was applied to a file."""
    needed = {(i.comment.span.path, i.comment.span.start, i.start) for i in used}
    found = {}
    for ignore in ignores:
        key = (ignore.comment.span.path, ignore.comment.span.start, ignore.start)
        looked_for = ignore.problem or all(ran(rule, ignore.comment.span.path) for rule in ignore.rules)
        if key not in needed and looked_for:
            found[key] = _finding(ignore)
    return tuple(found.values())


def _finding(ignore: Ignore) -> Finding:
    what = {Scope.LINE: "on this line", Scope.BLOCK: "in the block below", Scope.FILE: "in this file"}[ignore.scope]
    return Finding(
        rule=UNUSED,
        severity=Severity.WARNING,
        message=ignore.problem or f"{ignore.pattern} ignores nothing {what}",
        location=_place(ignore),
        why="" if ignore.problem else "a comment that ignores nothing today may hide a defect later",
        hint="correct the comment or remove it" if ignore.problem else f"remove {ignore.pattern} from the comment",
    )


def _asked(comment: Comment) -> Iterable[Ignore]:
    match = _ASKS.search(comment.text)
    if match is None:
        return
    scope = _scope(match["verb"], comment)
    if scope is None or not (match["rules"] or "").strip():
        verb = match["verb"]
        wrong = (
            "the comment names no rules: write ignore[rule]"
            if scope is not None
            else f"unknown comment {verb!r}: write ignore or ignore-file"
        )
        yield Ignore(
            pattern="",
            rules=frozenset(),
            reason="",
            scope=scope or Scope.LINE,
            comment=comment,
            start=match.start(),
            end=match.end(),
            problem=wrong,
        )
        return
    misplaced = (
        "ignore-file must come before the first key of a file"
        if match["verb"] == "ignore-file" and not comment.at_top
        else ""
    )
    for word in re.finditer(r"[^\s,]+", match["rules"]):
        rules, problem = _rules_named(word[0])
        start = match.start("rules") + word.start()
        yield Ignore(
            pattern=word[0],
            rules=frozenset() if misplaced else rules,
            reason=match["reason"].strip(),
            scope=scope,
            comment=comment,
            start=start,
            end=start + len(word[0]),
            problem=problem or misplaced,
        )


def _scope(verb: str, comment: Comment) -> Scope | None:
    match verb:
        case "ignore-file":
            return Scope.FILE
        case "ignore":
            return Scope.BLOCK if comment.alone else Scope.LINE
        case _:
            return None


def _rules_named(pattern: str) -> tuple[frozenset[str], str]:
    try:
        return expanded(pattern), ""
    except UnknownRule as error:
        return frozenset(), str(error)


def _place(ignore: Ignore) -> FileLocation:
    """The id in the comment, which is one line."""
    span, text = ignore.comment.span, ignore.comment.text
    before, inside = text[: ignore.start], text[ignore.start : ignore.end]
    start = span.start + len(before.encode("utf-8", "surrogatepass"))
    return FileLocation(
        path=span.path,
        line=span.line,
        column=span.column + len(before),
        end_line=span.line,
        end_column=span.column + len(before) + len(inside),
        start=start,
        end=start + len(inside.encode("utf-8", "surrogatepass")),
    )


STALE = "stale-baseline"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The report on one input, and the rules that its configuration chooses."""

    report: Report
    selection: Selection


def suppressed_report(
    parts: Sequence[Part], options: CheckOptions, listener: Listener, *, live: bool = False
) -> Report:
    """The parts as one report, without what is not chosen, what comments ignore, and what the baseline holds."""
    root = _current_folder()
    parts = [
        replace(part, report=replace(part.report, findings=part.selection.of(part.report.findings, root)))
        for part in parts
    ]
    if options.ignore_comments:
        parts = _without_ignored(parts, root, live=live)
    whole = merged(part.report for part in parts)
    if options.baseline is not None:
        return _beyond_baseline(whole, options.baseline, parts, root, live=live)
    if options.write_baseline is not None and not whole.interrupted:
        known = write_baseline(whole, options.write_baseline)
        listener.notice(f"{plural(len(whole.findings), 'finding')} written to {options.write_baseline}")
        return known
    return whole


def write_baseline(report: Report, path: str) -> Report:
    """Keep the findings in a file; the report says that they are known from now on."""
    from netdiag.render.findings.fingerprints import baseline_entries, render_baseline

    if any(item.error for item in report.inputs):
        raise NetdiagError("not written: not every input could be checked", where=path)
    found = baseline_entries(report.findings, report.sources, _relative_to(path))
    write_file(path, render_baseline(entry for _, entry in found).encode())
    overlooked = (Suppressed(finding=finding, by=Overlooked.BASELINE) for finding, _ in found)
    return replace(report, findings=(), suppressed=(*report.suppressed, *overlooked))


def _without_ignored(parts: Sequence[Part], root: str, *, live: bool) -> list[Part]:
    """The parts without the findings that comments cover, and with those comments that cover nothing."""
    found: list[tuple[Part, tuple[Ignore, ...]]] = []
    used: list[Ignore] = []
    for part in parts:
        ignores = read_ignores({p: data for p, data in part.report.sources.items() if not p.endswith(".toml")})
        kept: list[Finding] = []
        suppressed: list[Suppressed] = []
        for finding in part.report.findings:
            covers = covering(finding, ignores)
            used += covers
            if covers:
                suppressed.append(Suppressed(finding=finding, by=Overlooked.COMMENT, reason=covers[0].reason))
            else:
                kept.append(finding)
        report = replace(part.report, findings=tuple(kept), suppressed=tuple(suppressed))
        found.append((replace(part, report=report), ignores))
    reported: set[Finding] = set()
    return [
        _with_unused(part, unused(ignores, used, _ran(part, root, live=live)), reported, root)
        for part, ignores in found
    ]


def _with_unused(part: Part, found: Iterable[Finding], reported: set[Finding], root: str) -> Part:
    """The part with these findings, but for those that an earlier part has."""
    fresh = [finding for finding in part.selection.of(found, root) if finding not in reported]
    reported.update(fresh)
    return replace(part, report=replace(part.report, findings=(*part.report.findings, *fresh)))


def _ran(part: Part, root: str, *, live: bool) -> Callable[[str, str], bool]:
    """Whether a rule was looked for in a file."""
    looked_for = {*WITHOUT_RULE, *(rule.ID for rule in (*COMPOSE, *DECLARED))}
    if live:
        from netdiag.rules.observed import OBSERVED  # loads what a live check knows

        looked_for.update(rule.ID for rule in OBSERVED)
    return lambda rule, path: rule in looked_for and part.selection.includes(rule, path, root)


def _beyond_baseline(whole: Report, path: str, parts: Sequence[Part], root: str, *, live: bool) -> Report:
    """The report without what the baseline holds, and with a note for each of its entries that matches nothing."""
    from netdiag.render.findings.fingerprints import (
        baseline_entries,
        parse_baseline,
        stale_entries,
        unmatched_entries,
    )

    def ran(rule: str, file: str) -> bool:
        readers = (part for part in parts if file in part.report.sources)
        return rule not in known_ids() or any(_ran(part, root, live=live)(rule, file) for part in readers)

    data = read_file(path)
    entries = parse_baseline(path, data)
    relative = _relative_to(path)
    known = {entry.fingerprint for entry in entries}
    found = baseline_entries(whole.findings, whole.sources, relative)
    checked = {relative(name): name for name in whole.sources}
    old = stale_entries(
        path,
        data,
        unmatched_entries(entries, (entry for _, entry in found)),
        lambda entry: entry.path in checked and ran(entry.rule, checked[entry.path]),
    )
    shown = old if any(part.selection.includes(STALE, path, root) for part in parts) else ()
    overlooked = (
        Suppressed(finding=finding, by=Overlooked.BASELINE) for finding, entry in found if entry.fingerprint in known
    )
    return replace(
        whole,
        findings=(*(finding for finding, entry in found if entry.fingerprint not in known), *shown),
        suppressed=(*whole.suppressed, *overlooked),
        sources={**whole.sources, path: data} if old else whole.sources,
    )


def _relative_to(baseline: str) -> Callable[[str], str]:
    """Gives paths as seen from the folder of the baseline, with slashes: they are the same on every machine."""
    folder = os.path.dirname(os.path.abspath(baseline))

    def relative(path: str) -> str:
        try:
            return os.path.relpath(os.path.abspath(path), folder).replace("\\", "/")
        except ValueError:
            # Another drive.
            return os.path.abspath(path).replace("\\", "/")

    return relative


def _current_folder() -> str:
    """Empty when it is gone."""
    try:
        return os.getcwd()
    except OSError:
        return ""
