"""What an editor shows of its documents: findings, from where addresses work, repairs; nothing is run or connected to.

A document is checked as check-listeners checks the file, with the text of every open document in the place of what is
on disk. A file that is no input of its own (a mounted properties file, a Dockerfile, an env file) is checked through
the project that reads it: the nearest one in its folder or above, up to the folder that the editor has open.
"""

import dataclasses
import os
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from enum import Enum
from functools import cached_property
from itertools import islice

from netdiag.app.check import Check, CheckResult
from netdiag.app.configuration import CheckOptions
from netdiag.app.repair import find_repairs
from netdiag.errors import NetdiagError, internal_error
from netdiag.findings import Applicability, Edit, FileLocation, Finding, Severity
from netdiag.io.files import LIMIT, OWN, SHARED
from netdiag.io.files.projects import ReadOptions, find_project, is_compose_file, single_file_at
from netdiag.patterns import regex
from netdiag.render.editor import AddressTexts, rule_markdown_of, rule_mentions
from netdiag.render.findings.finding_text import COULD_NOT_CHECK, plain
from netdiag.render.report import Problem, Report, file_of_error, limited
from netdiag.values import dataclass

_REASON = "say why"
_LINE_END = regex(rb"\r\n|\n|\r")
# Folders above a document that are looked into for the project that reads it.
_MOST_FOLDERS = 20
# Findings at one place that get actions of their own.
_MOST_ACTIONS = 20
_MOST_MENTIONS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """What stands behind an address: from where it works, in a few words; `offset` is a byte of the document."""

    offset: int
    label: str
    tooltip: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hover:
    """Markdown about the bytes start..end of a document."""

    start: int
    end: int
    text: str


class ActionKind(Enum):
    """What an action does."""

    FIX = "fix"
    IGNORE = "ignore"
    FIX_ALL = "fix all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A change that the user may choose. One that is not `safe` changes what the deployment offers."""

    title: str
    kind: ActionKind
    edits: tuple[Edit, ...]
    finding: Finding | None = None
    safe: bool = True


# Without slots, so that its texts are made once.
@dataclasses.dataclass(frozen=True, kw_only=True)
class _View:
    """An input, checked: what was reported, and the bytes of every file that was read."""

    options: CheckOptions
    report: Report = field(default_factory=Report)
    read: frozenset[str] = frozenset()
    problems: tuple[Finding, ...] = ()

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        return (*self.report.findings, *self.problems)

    @cached_property
    def texts(self) -> AddressTexts:
        return AddressTexts(self.report)


class Editor:
    """The open documents, and the inputs that they belong to. Paths are absolute, contents UTF-8.

    `folders` are those that the editor has open. Not for use by several threads at once.
    """

    def __init__(self, folders: Iterable[str] = (), environ: Mapping[str, str] | None = None) -> None:
        self._folders = tuple(os.path.normpath(folder) for folder in folders)
        self._environ = dict(os.environ if environ is None else environ)
        self._open: dict[str, bytes] = {}
        self._inputs: dict[str, tuple[str, ...]] = {}
        self._views: dict[tuple[str, ...], _View] = {}
        self._stale: set[tuple[str, ...]] = set()

    def put(self, path: str, data: bytes) -> None:
        """A document was opened or changed."""
        self._open[path] = data
        self.touch(path)

    def close(self, path: str) -> None:
        """A document was closed: what is on disk counts again."""
        self._open.pop(path, None)
        self._inputs.pop(path, None)
        self.touch(path)

    def touch(self, path: str) -> None:
        """A file changed, on disk or in the editor: what reads it is checked again."""
        if path in self._open:
            self._inputs.pop(path, None)
        if os.path.basename(path) in (OWN, SHARED):
            self._stale.update(self._views)
        self._stale.update(key for key, view in self._views.items() if path in view.read)

    def refresh(self) -> frozenset[str]:
        """Check what has changed; the files whose findings may have changed with it."""
        changed: set[str] = set()
        replaced = {path: data for path, data in self._open.items() if len(data) <= LIMIT}
        for path in self._open:
            if path not in self._inputs:
                changed |= self._find_input(path, replaced)
        wanted = {key for key in self._inputs.values() if key}
        for key in [key for key in self._views if key not in wanted]:
            changed |= self._views.pop(key).read
        for key in [key for key in self._views if key in self._stale]:
            changed |= self._views[key].read
            self._views[key] = self._checked(self._views[key].options, key, replaced)
            changed |= self._views[key].read
        self._stale.clear()
        return frozenset(changed | self._open.keys())

    def findings(self, path: str) -> tuple[Finding, ...]:
        """The findings in a file, of every input that reads it, each once."""
        if len(self._open.get(path, b"")) > LIMIT:
            return (_problem(path, f"larger than {LIMIT // 1024 // 1024} MiB: not checked"),)
        found: dict[Finding, None] = {}
        for view in self._views.values():
            found.update((f, None) for f in view.findings if isinstance(f.location, FileLocation) and _in(path, f))
        return tuple(found)

    def contents(self, path: str) -> bytes | None:
        """The bytes that offsets into a file count in; None for one that was not read."""
        if path in self._open:
            return self._open[path]
        return next((view.report.sources[path] for view in self._views.values() if path in view.report.sources), None)

    def is_open(self, path: str) -> bool:
        """Whether the editor has it."""
        return path in self._open

    def hints(self, path: str) -> tuple[Hint, ...]:
        """From where each advertised and each bootstrap address of a document works."""
        found: dict[int, Hint] = {}
        for view in self._views.values():
            for place, rows in view.texts.places(path):
                label = view.texts.hint(rows)
                if label:
                    tooltip = view.texts.markdown(rows)
                    found.setdefault(place.end, Hint(offset=place.end, label=label, tooltip=tooltip))
        return tuple(found[offset] for offset in sorted(found))

    def hover(self, path: str, offset: int) -> Hover | None:
        """What there is to say about a place: an address and both hops from everywhere, or the page of a rule."""
        texts: dict[str, None] = {}
        spans: list[tuple[int, int]] = []
        for view in self._views.values():
            for place, rows in view.texts.places(path):
                if place.start <= offset <= place.end:
                    texts[view.texts.markdown(rows)] = None
                    spans.append((place.start, place.end))
        for start, end, rule in self.mentions(path):
            page = rule_markdown_of(rule) if start <= offset <= end else None
            if page is not None:
                texts[page] = None
                spans.append((start, end))
        if not texts:
            return None
        start, end = min(spans, key=lambda span: span[1] - span[0])
        return Hover(start=start, end=end, text="\n\n---\n\n".join(texts))

    def mentions(self, path: str) -> tuple[tuple[int, int, str], ...]:
        """Where comments of a document name rules that they ignore: first and last byte, and the rule's id."""
        return tuple(islice(rule_mentions(self._open.get(path, b"")), _MOST_MENTIONS))

    def related(self, path: str, offset: int) -> tuple[FileLocation, ...]:
        """The lines that belong to a place: the published port, the other list, the broker, the other broker."""
        found: dict[FileLocation, None] = {}
        for view in self._views.values():
            for place, rows in view.texts.places(path):
                if place.start <= offset <= place.end:
                    found.update((where, None) for row in rows for where in row.address.related)
        for finding in self._at(path, offset, offset):
            places = (related.location for related in finding.related)
            found.update((place, None) for place in places if isinstance(place, FileLocation))
        return tuple(found)

    def actions(self, path: str, start: int, end: int) -> tuple[Action, ...]:
        """What can be done about the findings on the lines of the bytes start..end; a comment was tried before."""
        made: list[Action] = []
        data = self.contents(path) or b""
        start, end = data.rfind(b"\n", 0, start) + 1, data.find(b"\n", end)
        end = len(data) if end < 0 else end
        for finding in self._at(path, start, end)[:_MOST_ACTIONS]:
            if finding.edits and all(self.contents(edit.path) is not None for edit in finding.edits):
                safe = finding.applicability is Applicability.SAFE
                title = plain(finding.hint or finding.message)
                title = f"{title[:1].upper()}{title[1:]}" + ("" if safe else " (changes what is offered)")
                made.append(Action(title=title, kind=ActionKind.FIX, edits=finding.edits, finding=finding, safe=safe))
            ignored = self._ignoring(finding)
            if ignored is not None:
                title = f"Ignore {finding.rule} here"
                made.append(Action(title=title, kind=ActionKind.IGNORE, edits=(ignored,), finding=finding))
        return tuple(made)

    def fix_all(self, path: str) -> Action | None:
        """The safe repairs of the input of a document, as `--fix` makes them; None where there are none."""
        view = self._views.get(self._inputs.get(path, ()))
        if view is None:
            return None
        replaced = {name: data for name, data in self._open.items() if len(data) <= LIMIT}
        try:
            check = Check(replace(view.options, addresses=False, matrix=False), replaced=replaced)
            repairs = find_repairs(check, check.run(), unsafe=False)
        except NetdiagError:
            return None
        edits = tuple(
            Edit(path=name, start=start, end=end, replacement=text)
            for name, (before, after) in repairs.changed.items()
            for start, end, text in (_difference(before, after),)
        )
        if not edits:
            return None
        return Action(title="Make all safe repairs", kind=ActionKind.FIX_ALL, edits=edits)

    def _find_input(self, path: str, replaced: Mapping[str, bytes]) -> set[str]:
        """Find the input that a document belongs to, and check it where it has not been; the files that it reads."""
        self._inputs[path] = ()
        if path not in replaced:
            return {path}
        for options in self._candidates(path, replaced):
            key = self._key(options)
            known = self._views.get(key)
            view = self._checked(options, key, replaced) if known is None or key in self._stale else known
            if path in view.read or path in options.files:
                self._inputs[path], self._views[key] = key, view
                self._stale.discard(key)
                return {path, *view.read}
        return {path}

    def _candidates(self, path: str, replaced: Mapping[str, bytes]) -> Iterable[CheckOptions]:
        """What to check for a document, the likeliest first."""
        read = ReadOptions(environ=self._environ)
        base = CheckOptions(read=read, addresses=True)
        folder = os.path.dirname(path)
        if single_file_at(path, replaced) is not None:
            yield replace(base, files=(path,))
            return
        if is_compose_file(path, replaced[path]):
            found = _found(replace(read, start=folder))
            if found is not None and path in found:
                yield replace(base, read=replace(read, start=folder))
            else:
                yield replace(base, files=(path,))
            return
        for key, view in self._views.items():
            if path in view.read and key not in self._stale:
                yield view.options
        root = next((one for one in self._folders if os.path.commonpath((one, folder)) == one), folder)
        for _ in range(_MOST_FOLDERS):
            found = _found(replace(read, start=folder))
            if found is None or os.path.commonpath((root, found[0])) != root:
                return
            yield replace(base, read=replace(read, start=folder))
            above = os.path.dirname(os.path.dirname(found[0]))
            if os.path.commonpath((root, above)) != root or above == folder:
                return
            folder = above

    def _key(self, options: CheckOptions) -> tuple[str, ...]:
        if options.files:
            return options.files
        return _found(options.read) or (options.read.start,)

    def _checked(self, options: CheckOptions, key: tuple[str, ...], replaced: Mapping[str, bytes]) -> _View:
        """Check an input; an error becomes a finding at its place."""
        try:
            result = Check(options, replaced=replaced).run()
        except NetdiagError as error:
            problem = Problem(message=str(error), hint=error.hint)
            found = _problem(key[0], _problem_text(problem))
            return _View(options=options, read=frozenset(key), problems=(found,))
        except Exception as error:  # noqa: BLE001
            # A defect of ours must not end the editor's session.
            found = _problem(key[0], str(internal_error(error)))
            return _View(options=options, read=frozenset(key), problems=(found,))
        return self._view(options, key, result)

    def _view(self, options: CheckOptions, key: tuple[str, ...], result: CheckResult) -> _View:
        report = limited(result.report)
        also = (name for item in report.inputs for name in item.also_read)
        read = {os.path.normpath(path) for path in (*key, *report.sources, *also, *result.also_read) if path}
        problems = []
        for item, problem in report.unread:
            path, line = file_of_error(item)
            path = path if path in read else key[0]
            data = report.sources.get(path, self._open.get(path, b""))
            problems.append(_problem(path, _problem_text(problem), data, line))
        return _View(options=options, report=report, read=frozenset(read), problems=tuple(problems))

    def _at(self, path: str, start: int, end: int) -> list[Finding]:
        """The findings that touch the bytes start..end, the nearest first."""
        found = []
        for finding in self.findings(path):
            place = finding.location
            if isinstance(place, FileLocation) and place.start <= end and start <= place.end:
                found.append((place.end - place.start, finding.severity.rank, finding))
        return [finding for _, _, finding in sorted(found, key=lambda one: (one[0], -one[1], one[2].rule))]

    def _ignoring(self, finding: Finding) -> Edit | None:
        """A comment that suppresses the finding, behind its line or above it; None where neither does."""
        place = finding.location
        if not isinstance(place, FileLocation) or finding.rule == COULD_NOT_CHECK:
            return None
        data = self.contents(place.path)
        view = next((view for view in self._views.values() if finding in view.report.findings), None)
        if data is None or view is None:
            return None
        comment = f"# netdiag: ignore[{finding.rule}] {_REASON}"
        begin = data.rfind(b"\n", 0, place.start) + 1
        stop = data.find(b"\n", place.start)
        line = data[begin : len(data) if stop < 0 else stop]
        indent = line[: len(line) - len(line.lstrip())].decode("utf-8", "replace")
        behind = begin + len(line.rstrip())
        for offset, text in ((behind, f"  {comment}"), (begin, f"{indent}{comment}\n")):
            edit = Edit(path=place.path, start=offset, end=offset, replacement=text)
            if self._suppresses(edit, finding, view, data):
                return edit
        return None

    def _suppresses(self, edit: Edit, finding: Finding, view: _View, data: bytes) -> bool:
        changed = data[: edit.start] + edit.replacement.encode() + data[edit.start :]
        replaced = {**{p: d for p, d in self._open.items() if len(d) <= LIMIT}, edit.path: changed}
        options = replace(view.options, addresses=False, matrix=False)
        after = self._checked(options, self._key(options), replaced)
        before = [f for f in view.report.findings if (f.rule, f.message) == (finding.rule, finding.message)]
        left = [f for f in after.findings if (f.rule, f.message) == (finding.rule, finding.message)]
        return not after.problems and len(left) < len(before) and len(after.findings) < len(view.findings)


def _found(read: ReadOptions) -> tuple[str, ...] | None:
    """The files of the project that compose finds from a folder, absolute."""
    try:
        project = find_project(read)
    except NetdiagError:
        return None
    return None if project is None else tuple(os.path.normpath(path) for path in project.files)


def _in(path: str, finding: Finding) -> bool:
    place = finding.location
    return isinstance(place, FileLocation) and os.path.normpath(place.path) == path


def _problem(path: str, text: str, data: bytes = b"", line: int = 1) -> Finding:
    """A finding on a whole line that says why something could not be checked."""
    starts = [0, *(found.end() for found in _LINE_END.finditer(data)), len(data)]
    line = max(1, min(line, len(starts) - 1))
    start = starts[line - 1]
    end = start + len(data[start : starts[line]].rstrip(b"\r\n"))
    place = FileLocation(
        path=path, line=line, column=1, end_line=line, end_column=1 + end - start, start=start, end=end
    )
    return Finding(rule=COULD_NOT_CHECK, severity=Severity.ERROR, message=text, location=place)


def _problem_text(problem: Problem) -> str:
    return f"{problem.message}; {problem.hint}" if problem.hint else problem.message


def _difference(before: bytes, after: bytes) -> tuple[int, int, str]:
    """The stretch of `before` that differs, in whole lines, and what stands there afterwards."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    head = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    most = min(len(old), len(new)) - head
    pairs = zip(reversed(old), reversed(new), strict=False)
    tail = min(next((i for i, (a, b) in enumerate(pairs) if a != b), most), most)
    start, end = len(b"".join(old[:head])), len(b"".join(old[: len(old) - tail]))
    return start, end, b"".join(new[head : len(new) - tail]).decode("utf-8", "replace")
