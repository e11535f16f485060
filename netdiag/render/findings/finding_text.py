"""A finding as text: a line with place, severity, message and rule; the source under it; why, and how to repair it.

The source has line numbers and carets under exact spans and is cut to the width of the screen. Columns of a mark are
characters of the file; what is drawn may be wider (CJK), spelled out (controls) or hidden (secrets), so every character
of a line is first given the text that stands for it. Places come in the words of other programs, too: their order,
relative paths, URIs, text that is safe to hand on.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import assert_never

from netdiag.findings import (
    ContainerLocation,
    FileLocation,
    Finding,
    Location,
    Severity,
    TopologyLocation,
    WireLocation,
    by_place,
)
from netdiag.patterns import regex
from netdiag.render.redact import HIDDEN, redacted, secret_spans
from netdiag.render.screen import Line, Run, Screen, Style, encoded, hanging, width, wrap
from netdiag.values import dataclass

COULD_NOT_CHECK = "could-not-check"

_UTF8 = Screen()
_DRIVE = regex(r"[A-Za-z]:/")
# Noncharacters: no letter of any text, and two of them are forbidden in XML 1.0.
_NONCHARACTER = regex("[\ufdd0-\ufdef\ufffe\uffff]")


def plain(text: str) -> str:
    """Foreign text on one line: secrets hidden, controls, directions and broken characters spelled out."""
    return harmless(redacted(text))


def harmless(text: str) -> str:
    """Foreign text that holds no secret (a path, a name) on one line."""
    return _NONCHARACTER.sub(lambda match: f"\\u{ord(match[0]):04x}", _UTF8.visible(text))


def explanations(finding: Finding) -> list[tuple[str, str]]:
    """What a finding explains, each text with its title: why it is so, what the broker will print, how to repair it."""
    texts = (("why", finding.why), ("the broker will print", finding.broker_prints), ("fix", finding.hint))
    return [(title, text) for title, text in texts if text]


def message_lines(finding: Finding) -> list[str]:
    """The message of a finding and what explains it, a line each."""
    return [plain(finding.message), *(f"{title}: {plain(text)}" for title, text in explanations(finding))]


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Findings in the order of their places; equal reports give equal lists."""
    return sorted(findings, key=by_place)


def path_text(path: str, root: str = "") -> str:
    """A path as seen from the folder `root`, with slashes; one outside of it stays absolute."""
    path, root = path.replace("\\", "/"), root.replace("\\", "/").rstrip("/")
    if root and path.startswith(root + "/"):
        path = path[len(root) + 1 :]
    while path.startswith("./"):
        path = path[2:].lstrip("/")
    return path


def uri(path: str, root: str = "") -> str:
    """A path as a URI reference (RFC 3986), relative where `path_text` is; its bytes are those of the file's name."""
    path = path_text(path, root)
    if _DRIVE.match(path):
        return "file:///" + path[:2] + encoded(path[2:])
    return "file://" + encoded(path) if path.startswith("/") else encoded(path)


def container_text(location: ContainerLocation) -> str:
    """A place in a container, in one line."""
    return harmless(f"{location.container} ({location.part})" if location.part else location.container)


def wire_text(location: WireLocation) -> str:
    """A place in a capture without its file, in one line."""
    packet = "" if location.packet is None else f"packet {location.packet}"
    return harmless(", ".join(part for part in (packet, location.connection) if part) or "the capture")


def topology_text(location: TopologyLocation) -> str:
    """A place in a machine's network, in one line."""
    device = f"/{location.device}" if location.device else ""
    return harmless(f"{location.place}{device} ({location.part})" if location.part else f"{location.place}{device}")


def file_text(location: Location, root: str = "") -> str:
    """The file of a place, for programs that know of files only; a container is a file of its name."""
    match location:
        case FileLocation():
            return harmless(path_text(location.path, root))
        case ContainerLocation():
            return container_text(location)
        case WireLocation():
            return harmless(path_text(location.file, root))
        case TopologyLocation():
            return topology_text(location)
        case _:
            assert_never(location)


def place_text(location: Location, root: str = "") -> str:
    """A place in one line: path:line:column, or a container."""
    match location:
        case FileLocation():
            return f"{harmless(path_text(location.path, root))}:{location.line}:{location.column}"
        case ContainerLocation():
            return container_text(location)
        case WireLocation():
            packet = "" if location.packet is None else f":{location.packet}"
            between = f" ({harmless(location.connection)})" if location.connection else ""
            return f"{harmless(path_text(location.file, root))}{packet}{between}"
        case TopologyLocation():
            return topology_text(location)
        case _:
            assert_never(location)


_LINE_END = regex(rb"\r\n|\n|\r")
_TAB = "    "
# A gap of at most this many lines between two marks is shown, a longer one is an ellipsis.
_NEAR = 2
_LINES_PER_MARK = 3
SEVERITY_STYLES = {Severity.ERROR: Style.ERROR, Severity.WARNING: Style.WARNING, Severity.NOTE: Style.NOTE}
# More places than this are counted, not drawn.
_RELATED_SHOWN = 6
_DIGITS = regex(r"\d+")


class SourceLines:
    """The lines of the files that findings point into, split once."""

    def __init__(self, sources: Mapping[str, bytes]) -> None:
        self._sources = sources
        self._lines: dict[str, list[str]] = {}

    def lines(self, path: str) -> list[str]:
        """The lines of a file; none when its bytes are not at hand."""
        if path not in self._lines:
            self._lines[path] = split_lines(self._sources[path]) if path in self._sources else []
        return self._lines[path]


def finding_lines(
    finding: Finding, sources: SourceLines, screen: Screen, *, likewise: Sequence[Finding] = ()
) -> list[Line]:
    """The lines of a finding, then the places of those that say the same."""
    style = SEVERITY_STYLES[finding.severity]
    shown, left_out = finding.related[:_RELATED_SHOWN], finding.related[_RELATED_SHOWN:]
    places = [_Place(r.location, redacted(r.message), False) for r in shown if isinstance(r.location, FileLocation)]
    if isinstance(finding.location, FileLocation):
        places.insert(0, _Place(finding.location, "", True))
    drawn = [_headline(finding, screen, style)]
    for index, path in enumerate(dict.fromkeys(place.location.path for place in places)):
        here = [place for place in places if place.location.path == path]
        drawn += _file_snippet(path, here, sources, screen, style, named=index > 0)
    for related in shown:
        if not isinstance(related.location, FileLocation):
            drawn += _remark(clickable_place(related.location), redacted(related.message), screen)
    if isinstance(finding.location, WireLocation):
        drawn += _remark("first seen", clock_text(finding.location.time), screen)
    if left_out:
        drawn += _remark("also", f"{len(left_out)} more places", screen)
    for title, text in explanations(finding):
        drawn += _remark(title, redacted(text), screen)
    if likewise:
        drawn.append((Run("  likewise:", Style.PLACE),))
        drawn += [_likewise(other, screen) for other in likewise]
    return drawn


def clickable_place(location: Location) -> str:
    """A location in one line, as editors and terminals can click it."""
    match location:
        case FileLocation():
            return f"{location.path}:{location.line}:{location.column}"
        case ContainerLocation():
            return f"{location.container} ({location.part})" if location.part else location.container
        case WireLocation():
            packet = "" if location.packet is None else f":{location.packet}"
            return f"{location.file}{packet} ({location.connection})" if location.connection else location.file + packet
        case TopologyLocation():
            device = f"/{location.device}" if location.device else ""
            return f"{location.place}{device} ({location.part})" if location.part else location.place + device
        case _:
            assert_never(location)


def clock_text(time: int) -> str:
    """Nanoseconds since 1970 as a time of UTC, to the microsecond; the number itself where no calendar has it."""
    seconds, rest = divmod(time, 1_000_000_000)
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return f"{time} ns"
    return f"{moment:%Y-%m-%d %H:%M:%S}.{rest // 1000:06d} UTC"


def grouped(findings: Sequence[Finding], *, full: bool = False) -> list[list[Finding]]:
    """Findings that differ in names and numbers only as one group, in the place of the first; `full` groups none."""
    groups: dict[object, list[Finding]] = {}
    for index, finding in enumerate(findings):
        groups.setdefault(index if full else _similarity(finding), []).append(finding)
    return list(groups.values())


def _similarity(finding: Finding) -> tuple[object, ...]:
    texts = (finding.message, finding.why, finding.hint, finding.broker_prints or "")
    names = (finding.service, *_own_names(finding))
    essence = tuple(_DIGITS.sub("#", _without(text, names)) for text in texts)
    path = finding.location.path if isinstance(finding.location, FileLocation) else ""
    return (finding.rule, finding.severity, path, essence, len(finding.related))


def _own_names(finding: Finding) -> tuple[str, ...]:
    """What a finding about a network calls its own."""
    if isinstance(finding.location, TopologyLocation):
        return (finding.location.part, finding.location.device, finding.location.place)
    return ()


def _without(text: str, names: Sequence[str | None]) -> str:
    for name in names:
        text = text.replace(name, "@") if name else text
    return text


@dataclasses.dataclass(frozen=True, slots=True)
class _Place:
    location: FileLocation
    label: str
    primary: bool


def _headline(finding: Finding, screen: Screen, style: Style) -> Line:
    return (
        _place(finding.location, screen, Style.BOLD),
        Run(": "),
        Run(finding.severity.value, style),
        Run(": "),
        screen.run(redacted(finding.message), Style.BOLD),
        *_rule(finding.rule, screen),
    )


def _place(location: Location, screen: Screen, style: Style = Style.PLAIN) -> Run:
    """A place, which leads to its file where the screen has links."""
    link = screen.links.to_file(location.path) if screen.links and isinstance(location, FileLocation) else ""
    return Run(screen.visible(clickable_place(location)), style, link)


def _rule(rule: str, screen: Screen) -> Line:
    """The id of a rule in brackets, which leads to its page where the screen has links."""
    link = screen.links.to_rule(rule) if screen.links else ""
    if not link:
        return (screen.run(f" [{rule}]", Style.DIM),)
    return (Run(" [", Style.DIM), Run(screen.visible(rule), Style.DIM, link), Run("]", Style.DIM))


def _likewise(finding: Finding, screen: Screen) -> Line:
    """The place of a finding that says the same, and whose it is."""
    whose = f": {finding.service}" if finding.service else ""
    return (Run("    "), _place(finding.location, screen, Style.BOLD), screen.run(whose))


def _file_snippet(
    path: str, places: Sequence[_Place], sources: SourceLines, screen: Screen, style: Style, *, named: bool
) -> list[Line]:
    marks = [
        Mark(
            line=place.location.line,
            column=place.location.column,
            end_line=place.location.end_line,
            end_column=place.location.end_column,
            label=redacted(place.label),
            primary=place.primary,
        )
        for place in places
    ]
    drawn = snippet(sources.lines(path), marks, screen, style)
    if not drawn:
        # The file cannot be shown: its places still are.
        return [line for p in places if not p.primary for line in _remark(clickable_place(p.location), p.label, screen)]
    if named:
        first = places[0].location
        return [(Run(f"  {screen.glyphs.arrow} ", Style.PLACE), _place(first, screen)), *drawn]
    return drawn


def _remark(title: str, text: str, screen: Screen) -> list[Line]:
    return hanging((Run(f"  {screen.visible(title)}: ", Style.PLACE),), text, screen)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A span to point at, with a few words; lines and columns from 1, the end column is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int
    label: str = ""
    primary: bool = False


def split_lines(data: bytes) -> list[str]:
    """The lines of a file as its loader counts them, undecodable bytes replaced."""
    return [line.decode("utf-8", "replace") for line in _LINE_END.split(data.removeprefix(b"\xef\xbb\xbf"))]


def snippet(lines: Sequence[str], marks: Sequence[Mark], screen: Screen, style: Style) -> list[Line]:
    """The marked lines with a caret line under each; `style` colours the primary mark."""
    per_line = [piece for mark in marks for piece in _per_line(mark, lines)]
    numbers = sorted({piece.line for piece in per_line})
    if not numbers:
        return []
    gutter = len(str(numbers[-1]))
    drawer = _Drawer(lines, screen, style, gutter)
    drawn: list[Line] = [drawer.gutter()]
    previous: int | None = None
    for number in numbers:
        if previous is not None:
            drawn += drawer.between(previous, number)
        drawn += drawer.marked(number, [piece for piece in per_line if piece.line == number])
        previous = number
    return drawn


def _per_line(mark: Mark, lines: Sequence[str]) -> list[Mark]:
    """A mark over several lines as one mark per line, the first few of them; none outside the file."""
    last = min(mark.end_line, len(lines), mark.line + _LINES_PER_MARK - 1)
    pieces: list[Mark] = []
    for number in range(mark.line, last + 1):
        text = lines[number - 1]
        start = mark.column if number == mark.line else len(text) - len(text.lstrip()) + 1
        end = mark.end_column if number == mark.end_line else len(text.rstrip()) + 1
        if number > mark.line and end <= start:
            continue
        label = mark.label if number == last else ""
        pieces.append(
            Mark(line=number, column=start, end_line=number, end_column=end, label=label, primary=mark.primary)
        )
    return pieces


class _Drawer:
    """Draws the lines of one file."""

    def __init__(self, lines: Sequence[str], screen: Screen, style: Style, gutter: int) -> None:
        self._lines = lines
        self._screen = screen
        self._style = style
        self._gutter = gutter
        self._columns = max(20, screen.width - gutter - 3)

    def gutter(self, number: int | None = None) -> Line:
        text = f"{'' if number is None else number:>{self._gutter}} {self._screen.glyphs.bar}"
        return (Run(text, Style.PLACE),)

    def between(self, previous: int, number: int) -> list[Line]:
        if number - previous - 1 > _NEAR:
            return [(Run(f"{'':>{self._gutter}} {self._screen.glyphs.ellipsis}", Style.PLACE),)]
        return [self._source(n, *self._window(self._cells(n), ())) for n in range(previous + 1, number)]

    def marked(self, number: int, marks: Sequence[Mark]) -> list[Line]:
        """The line and its caret lines; the line is drawn again for a mark that does not fit in the same cut."""
        cells = self._cells(number)
        waiting = [(mark, self._span(cells, mark)) for mark in marks]
        drawn: list[Line] = []
        while waiting:
            left, right = self._window(cells, [span for _, span in waiting])
            fits = [
                (m, (s, max(s + 1, min(e, right))))
                for m, (s, e) in waiting
                if left <= s and (e <= right or s == waiting[0][1][0])
            ]
            waiting = [(m, span) for m, span in waiting if m not in [fitting for fitting, _ in fits]]
            drawn.append(self._source(number, left, right))
            for caret_line in self._carets(fits):
                drawn += self._caret_line(caret_line, left)
        return drawn

    def _cells(self, number: int) -> list[str]:
        """What stands for each character of a line."""
        line = self._lines[number - 1]
        cells = [_TAB if c == "\t" else self._screen.visible(c) for c in line]
        for start, end in secret_spans(self._lines, number - 1):
            cells[start:end] = [HIDDEN, *[""] * (end - start - 1)]
        return cells

    def _span(self, cells: list[str], mark: Mark) -> tuple[int, int]:
        """The terminal columns of a mark, from 0; at least one wide."""
        start = sum(width(cell) for cell in cells[: mark.column - 1])
        end = start + sum(width(cell) for cell in cells[mark.column - 1 : mark.end_column - 1])
        return start, max(end, start + 1)

    def _window(self, cells: list[str], spans: Sequence[tuple[int, int]]) -> tuple[int, int]:
        """The columns of the line to show: all of it, or a cut around the spans (the first one, if need be)."""
        total = sum(width(cell) for cell in cells)
        if total <= self._columns:
            return 0, max(total, max((end for _, end in spans), default=0))
        if not spans:
            return 0, self._columns - width(self._screen.glyphs.ellipsis)
        start, end = min(s for s, _ in spans), max(e for _, e in spans)
        ellipsis = width(self._screen.glyphs.ellipsis)
        if end <= self._columns - ellipsis:
            return 0, self._columns - ellipsis
        room = self._columns - 2 * ellipsis
        if end - start > room:
            start, end = spans[0]
            end = min(end, start + room)
        left = min(max(0, start - (room - (end - start)) // 2), max(0, total - room))
        return left, left + room

    def _source(self, number: int, left: int, right: int) -> Line:
        cells = self._cells(number)
        ellipsis = self._screen.glyphs.ellipsis
        shown: list[str] = []
        position = 0
        for cell in cells:
            if left <= position and position + width(cell) <= right:
                shown.append(cell)
            elif position < right and position + width(cell) > left:
                shown.append(" " * (min(right, position + width(cell)) - max(left, position)))
            position += width(cell)
        if position > right:
            shown.append(ellipsis)
        runs = [*self.gutter(number), Run(" ")]
        if left > 0:
            runs.append(Run(ellipsis, Style.DIM))
        return (*runs, Run("".join(shown)))

    def _carets(self, marks: list[tuple[Mark, tuple[int, int]]]) -> list[list[tuple[Mark, tuple[int, int]]]]:
        """Marks that can share one caret line together: apart from one another, and only the last has words."""
        ordered = sorted(marks, key=lambda pair: pair[1])
        apart = all(a[1][1] < b[1][0] for a, b in pairwise(ordered))
        if apart and not any(mark.label for mark, _ in ordered[:-1]):
            return [ordered] if ordered else []
        return [[pair] for pair in sorted(marks, key=lambda pair: (not pair[0].primary, pair[1]))]

    def _caret_line(self, marks: list[tuple[Mark, tuple[int, int]]], left: int) -> list[Line]:
        shift = width(self._screen.glyphs.ellipsis) if left else 0
        runs: list[Run] = [*self.gutter(), Run(" ")]
        position = 0
        for mark, (start, end) in marks:
            at = start - left + shift
            style = self._style if mark.primary else Style.PLACE
            runs += [Run(" " * (at - position)), Run(("^" if mark.primary else "-") * (end - start), style)]
            position = at + end - start
        mark = marks[-1][0]
        label = self._screen.visible(mark.label)
        if not label:
            return [tuple(runs)]
        style = self._style if mark.primary else Style.PLACE
        if position + 1 + width(label) <= self._columns:
            return [(*runs, Run(" " + label, style))]
        first = marks[0][1][0] - left + shift
        parts = wrap(label, self._columns - 2)
        indent = max(2, min(first, self._columns - max(width(part) for part in parts)))
        return [tuple(runs), *((*self.gutter(), Run(" " + " " * indent + part, style)) for part in parts)]
