"""What is wrong, where, since when: the head of the page."""

from collections.abc import Iterator, Sequence
from html import escape

from netdiag.findings import Finding, Related, Severity, WireLocation
from netdiag.render.analysis_page.canvas import Moment
from netdiag.render.analysis_page.elements import folded, text
from netdiag.render.analysis_page.wording import plain
from netdiag.render.analysis_sections import duration, moment, size
from netdiag.render.redact import redacted
from netdiag.traffic.analysis import Analysis

# So many kinds are open, and so many findings of a kind; the rest of them opens together.
_OPEN, _ALIKE = 5, 2
_MARKED = 12
# Characters: of a sentence, whatever names it holds, and of a name that stands alone.
_SENTENCE, _NAME = 600, 120
_COLOURS = {Severity.ERROR: "var(--bad)", Severity.WARNING: "var(--half)", Severity.NOTE: "var(--quiet)"}


def in_order(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The worst first, those of one rule together, by when each was first seen."""
    first: dict[tuple[Severity, str], int] = {}
    for finding in findings:
        key = (finding.severity, finding.rule)
        first[key] = min(first.get(key, _time(finding) or 0), _time(finding) or 0)

    def order(finding: Finding) -> tuple[int, int, str, int]:
        begin = first[finding.severity, finding.rule]
        return -finding.severity.rank, begin, finding.rule, _time(finding) or 0

    return tuple(sorted(findings, key=order))


def moments(findings: Sequence[Finding]) -> tuple[Moment, ...]:
    """Where findings that are in order stand on the axis of time: the first of each kind."""
    kinds: dict[tuple[Severity, str], Moment] = {}
    for number, finding in enumerate(findings, 1):
        time = _time(finding)
        if time is not None:
            moment = Moment(number=number, time=time // 1000, colour=_COLOURS[finding.severity])
            kinds.setdefault((finding.severity, finding.rule), moment)
    return tuple(kinds.values())[:_MARKED]


def verdict(analysis: Analysis) -> str:
    """The first line of the page."""
    if not analysis.findings:
        return "Nothing wrong was found" if analysis.exchanges else "There is no Kafka here that can be read"
    counts = {kind: sum(finding.severity is kind for finding in analysis.findings) for kind in Severity}
    told = [f"{count} {kind.value}{'s' if count != 1 else ''}" for kind, count in counts.items() if count]
    return " and ".join(filter(None, [", ".join(told[:-1]), told[-1]]))


def since(analysis: Analysis) -> str:
    """When the worst of it was first seen."""
    worst = max((finding.severity.rank for finding in analysis.findings), default=0)
    those = [finding for finding in analysis.findings if finding.severity.rank == worst]
    times = [time for finding in those if (time := _time(finding)) is not None]
    if not times:
        return ""
    first, begin = min(times), analysis.seen.first
    into = f", {duration((first - begin) / 1e6)} into the capture" if begin is not None and first > begin else ""
    return f"since {moment(first)} UTC{into}"


def facts(analysis: Analysis) -> Iterator[str]:
    """What was looked at, in a few figures."""
    seen = analysis.seen
    yield '<dl id="facts">'
    for term, value, note in _facts(analysis):
        yield f"<div><dt>{escape(term)}</dt><dd>{text(value)}<small>{text(note)}</small></dd></div>"
    yield "</dl>"
    files = ", ".join(plain(file, _NAME) for file in seen.files[:3]) + (
        f" and {len(seen.files) - 3} more" if len(seen.files) > 3 else ""
    )
    span = ""
    if seen.first is not None and seen.last is not None:
        span = f", {moment(seen.first)} to {moment(seen.last)} UTC"
    yield f'<p id="source">{escape(files)}: {size(seen.bytes)}, {seen.packets:,} packets{span}</p>'


def findings(found: Sequence[Finding]) -> Iterator[str]:
    """Every finding, in order; what a rule says several times is one card."""
    if not found:
        yield "<p>No rule has anything to say about these captures.</p>"
        return
    cards: dict[tuple[Severity, str], list[tuple[int, Finding]]] = {}
    for number, finding in enumerate(found, 1):
        cards.setdefault((finding.severity, finding.rule), []).append((number, finding))
    kinds = list(cards.values())
    yield from _cards(kinds[:_OPEN])
    if len(kinds) > _OPEN:
        rest = sum(map(len, kinds[_OPEN:]))
        yield from folded(f"{rest} more, of {len(kinds) - _OPEN} other kinds", _cards(kinds[_OPEN:]))


def _cards(kinds: Sequence[Sequence[tuple[int, Finding]]]) -> Iterator[str]:
    yield '<ol class="findings">'
    for kind in kinds:
        yield from _card(kind)
    yield "</ol>"


def _card(kind: Sequence[tuple[int, Finding]]) -> Iterator[str]:
    (number, finding), *alike = kind
    word = finding.severity.value
    yield f'<li class="{word}"><h3>{_badge(number)} <span class="kind">{word}</span> '
    yield f"{_said(finding.message)}</h3>"
    yield f'<p class="where">{_place(finding)}</p>'
    if finding.hint:
        yield f'<p class="hint"><b>Do:</b> {_said(finding.hint)}</p>'
    if finding.why:
        yield f'<p class="why"><b>Why:</b> {_said(finding.why)} <code>{escape(plain(finding.rule))}</code></p>'
    yield from _related(finding)
    if alike:
        yield from _alike(alike[:_ALIKE])
    if len(alike) > _ALIKE:
        yield from folded(f"{len(alike) - _ALIKE} more like this", _alike(alike[_ALIKE:]))
    yield "</li>"


def _alike(those: Sequence[tuple[int, Finding]]) -> Iterator[str]:
    yield '<ul class="alike">'
    for number, finding in those:
        yield f"<li>{_badge(number)} <b>{_said(finding.message)}</b> "
        yield f'<span class="where">{_place(finding)}</span></li>'
    yield "</ul>"


def _related(finding: Finding) -> Iterator[str]:
    shown, rest = finding.related[:_ALIKE], finding.related[_ALIKE:]
    yield from _places(shown)
    if rest:
        yield from folded(f"{len(rest)} more places", _places(rest))


def _places(those: Sequence[Related]) -> Iterator[str]:
    if not those:
        return
    yield '<ul class="related">'
    for related in those:
        place = _wire(related.location) if isinstance(related.location, WireLocation) else ""
        yield f'<li>{_said(related.message)} <span class="where">{place}</span></li>'
    yield "</ul>"


def _said(sentence: str) -> str:
    return escape(plain(redacted(sentence), _SENTENCE))


def _badge(number: int) -> str:
    return f'<span class="badge" id="finding-{number}">{number}</span>'


def _place(finding: Finding) -> str:
    match finding.location:
        case WireLocation() as place:
            return _wire(place)
        case _:
            return ""


def _wire(place: WireLocation) -> str:
    packet = f"packet {place.packet:,} of " if place.packet is not None else ""
    since = f'since <time datetime="{_machine(place.time)}">{moment(place.time)}</time>'
    who, file = (escape(plain(name, _NAME)) for name in (place.connection, place.file))
    return f"<bdi>{who}</bdi>, {since}, {packet}<bdi>{file}</bdi>"


def _machine(time: int) -> str:
    return moment(time).replace(" ", "T") + "Z"


def _time(finding: Finding) -> int | None:
    return finding.location.time if isinstance(finding.location, WireLocation) else None


def _facts(analysis: Analysis) -> Iterator[tuple[str, str, str]]:
    seen = analysis.seen
    kinds: dict[str, int] = {}
    for row in analysis.rows("coverage"):
        kinds[row["decoded"]] = kinds.get(row["decoded"], 0) + int(row["exchanges"])
    whole = sum(kinds.values())
    traffic = analysis.charts.rows("traffic_over_time") if analysis.charts else ()
    failed = sum(row["errors"] for row in traffic)
    unanswered = sum(row["unanswered"] for row in traffic)
    if seen.first is not None and seen.last is not None:
        yield "span", duration((seen.last - seen.first) / 1e6), ""
    yield "exchanges", f"{whole:,}", ""
    if traffic:
        yield "with errors", f"{failed:,}", _share(failed, whole)
        yield "unanswered", f"{unanswered:,}", _share(unanswered, whole)
    opened = analysis.charts.rows("connections_over_time") if analysis.charts else ()
    bad = sum(row["refused"] + row["unanswered"] for row in opened)
    yield "connections", f"{analysis.connections:,}", f"{bad:,} not opened" if bad else ""
    lost = sum(int(row["bytes"]) for row in analysis.rows("loss_kinds"))
    decoded = f"{_percent(kinds.get('full', 0), whole)} %" if whole else "-"
    yield "decoded in full", decoded, f"{size(lost)} not decoded" if lost else ""


def _share(part: int, whole: int) -> str:
    return f"{_percent(part, whole)} %" if whole and part else ""


def _percent(part: int, whole: int) -> str:
    """A share that is neither everything nor nothing does not look like it."""
    share = 100 * part / whole
    if part and share < 0.01:
        return "under 0.01"
    if part < whole and share > 99.99:
        return "over 99.99"
    return f"{share:.2f}".rstrip("0").rstrip(".")
