"""Comments in Compose files that ignore findings, and those of them that ignore nothing.

`# netdiag: ignore[rule, rule] reason` at the end of a line applies to that line. On a line of its own it applies to the
key or list item below; if that is a service, to every finding about the service, wherever the value is set.
`# netdiag: ignore-file[rule]` before the first key applies to the whole file.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from itertools import islice

from netdiag.compose.positions import Source
from netdiag.compose.yaml_tree import Comment, read_comments
from netdiag.findings import FileLocation, Finding, Location, Severity
from netdiag.patterns import regex
from netdiag.rules.selection import UnknownRule, expanded
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
        rules, problem = _known(word[0])
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


def _known(pattern: str) -> tuple[frozenset[str], str]:
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
