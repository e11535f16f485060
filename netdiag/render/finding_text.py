"""One finding as text: a line with place, severity, message and rule; the source; why, the broker's words, the fix."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import assert_never

from netdiag.findings import (
    ContainerLocation,
    FileLocation,
    Finding,
    Location,
    Severity,
    TopologyLocation,
    WireLocation,
)
from netdiag.render.redact import redacted
from netdiag.render.screen import Line, Run, Screen, Style, wrap
from netdiag.render.snippet import Mark, snippet, split_lines

SEVERITY_STYLES = {Severity.ERROR: Style.ERROR, Severity.WARNING: Style.WARNING, Severity.NOTE: Style.NOTE}
# More places than this are counted, not drawn.
_RELATED_SHOWN = 6


class SourceLines:
    """The lines of the files that findings point into, split once."""

    def __init__(self, sources: Mapping[str, bytes]) -> None:
        self._sources = sources
        self._lines: dict[str, list[str]] = {}

    def of(self, path: str) -> list[str]:
        """The lines of a file; none when its bytes are not at hand."""
        if path not in self._lines:
            self._lines[path] = split_lines(self._sources[path]) if path in self._sources else []
        return self._lines[path]


@dataclass(frozen=True, slots=True)
class _Place:
    location: FileLocation
    label: str
    primary: bool


def finding_lines(
    finding: Finding, lines: SourceLines, screen: Screen, *, likewise: Sequence[Finding] = ()
) -> list[Line]:
    """The lines that present a finding; other places of which the same is true follow."""
    style = SEVERITY_STYLES[finding.severity]
    shown, left_out = finding.related[:_RELATED_SHOWN], finding.related[_RELATED_SHOWN:]
    places = [_Place(r.location, r.message, False) for r in shown if isinstance(r.location, FileLocation)]
    if isinstance(finding.location, FileLocation):
        places.insert(0, _Place(finding.location, "", True))
    drawn = [_headline(finding, screen, style)]
    for index, path in enumerate(dict.fromkeys(place.location.path for place in places)):
        here = [place for place in places if place.location.path == path]
        drawn += _file_snippet(path, here, lines, screen, style, named=index > 0)
    for related in shown:
        if not isinstance(related.location, FileLocation):
            drawn += _remark(place_text(related.location), related.message, screen)
    if isinstance(finding.location, WireLocation):
        drawn += _remark("first seen", clock_text(finding.location.time), screen)
    if left_out:
        drawn += _remark("also", f"{len(left_out)} more places", screen)
    if finding.why:
        drawn += _remark("why", redacted(finding.why), screen)
    if finding.broker_prints:
        drawn += _remark("the broker will print", redacted(finding.broker_prints), screen)
    if finding.hint:
        drawn += _remark("fix", redacted(finding.hint), screen)
    if likewise:
        drawn.append((Run("  likewise:", Style.PLACE),))
        drawn += [_likewise(other, screen) for other in likewise]
    return drawn


def place_text(location: Location) -> str:
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
    return Run(screen.visible(place_text(location)), style, link)


def _rule(rule: str, screen: Screen) -> Line:
    """The id of a rule in brackets, which leads to its page where the screen has links."""
    link = screen.links.to_rule(rule) if screen.links else ""
    if not link:
        return (screen.run(f" [{rule}]", Style.DIM),)
    return (Run(" [", Style.DIM), Run(screen.visible(rule), Style.DIM, link), Run("]", Style.DIM))


def _likewise(finding: Finding, screen: Screen) -> Line:
    """Another place of which the same is true; what differs is whose it is."""
    whose = f": {finding.service}" if finding.service else ""
    return (Run("    "), _place(finding.location, screen, Style.BOLD), screen.run(whose))


def _file_snippet(
    path: str, places: Sequence[_Place], lines: SourceLines, screen: Screen, style: Style, *, named: bool
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
    drawn = snippet(lines.of(path), marks, screen, style)
    if not drawn:
        # The file cannot be shown: its places still are.
        return [line for p in places if not p.primary for line in _remark(place_text(p.location), p.label, screen)]
    if named:
        first = places[0].location
        return [(Run(f"  {screen.glyphs.arrow} ", Style.PLACE), _place(first, screen)), *drawn]
    return drawn


def _remark(title: str, text: str, screen: Screen) -> list[Line]:
    indent = f"  {screen.visible(title)}: "
    parts = wrap(screen.visible(text), max(30, screen.width - len(indent)))
    first: Line = (Run(indent, Style.PLACE), Run(parts[0]))
    return [first, *((Run(" " * len(indent) + part),) for part in parts[1:])]
