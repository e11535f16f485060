"""The page of an analysis: no network, no other file, no server; what is wrong first, then charts, then tables.

Pictures are SVG of Vega without style or script. Without the script everything is there but the pointer's values, the
filter and the sorting. The page is as large as its charts and its cut tables are, whatever the captures hold.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from importlib.resources import files
from itertools import groupby
from typing import Any

from netdiag.findings import Finding, Location, Related, Severity, WireLocation
from netdiag.render.analysis.charts import broker_maps, partition_maps, rebalance_figure, time_figures
from netdiag.render.analysis.figure import Figure, FindingMark, Table, TimeAxis, short_name, vega_svg
from netdiag.render.analysis.tables import (
    SECTIONS,
    STORED_SECTIONS,
    Row,
    Section,
    all_rows,
    duration,
    exchanges_by_decoding,
    moment,
    size,
)
from netdiag.render.html import script_json, security_policy, visible
from netdiag.render.redact import redacted
from netdiag.render.wording import plural
from netdiag.traffic.analysis import Analysis, Answer, Charts

# So many kinds are open, and so many findings of a kind; the rest of them opens together.
_KINDS_OPEN, _ALIKE = 5, 2
_MOST_MARKS = 12
# Characters: of a sentence, whatever names it holds, and of a name that stands alone.
_LONGEST_SENTENCE, _LONGEST_NAME = 600, 120
_COLOURS = {Severity.ERROR: "var(--bad)", Severity.WARNING: "var(--half)", Severity.NOTE: "var(--quiet)"}

TITLE = "netdiag: analysis of captures"

# By which a page of ours is known.
GENERATOR = '<meta name="generator" content="netdiag analyze">'

# Of the tables of the text output so many rows; the Parquet of --out has all.
MOST_ROWS = 50

_THEMES = ("system", "light", "dark")


def analysis_page(analysis: Analysis) -> str:
    """The page; equal analyses give equal text. MissingExtra without vl-convert-python."""
    found = worst_first(analysis.findings)
    figures = _figures(analysis, found)
    style, script = _ours("page.css"), _ours("page.js")
    lines = [
        "<!doctype html>",
        f'<html lang="en"><head><meta charset="utf-8">{GENERATOR}',
        f'<meta http-equiv="Content-Security-Policy" content="{security_policy(style, script)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">',
        f"<title>{escape(_title(analysis))}</title>",
        f"<style>{style}</style></head><body>",
        '<a class="skip" href="#charts">skip to the charts</a>',
        *_head(analysis),
        "<main>",
        '<section id="insights" aria-labelledby="insights-h"><h2 id="insights-h">What is wrong</h2>',
        *finding_cards(found),
        "</section>",
        *_charts(figures),
        *(connection_table(analysis.charts) if analysis.charts else ()),
        *_coverage(analysis),
        *_tables(analysis),
        "</main>",
        f"<footer><p>{escape(TITLE)}. Times are UTC. Nothing is fetched, stored or sent by this page.</p></footer>",
        f'<script type="application/json" id="data">{script_json(_data(analysis, figures))}</script>',
        f"<script>{script}</script>",
        "</body></html>",
    ]
    return "\n".join(lines) + "\n"


def _figures(analysis: Analysis, found: Sequence[Finding]) -> tuple[Figure, ...]:
    if analysis.charts is None:
        return ()
    charts = analysis.charts
    time_axis = TimeAxis(span=charts.span, marks=finding_marks(found))
    groups = rebalance_figure(analysis, time_axis)
    others = (*time_figures(charts, time_axis), *((groups,) if groups else ()))
    # What answers "where" stands behind what answers "since when".
    return (*others[:1], *broker_maps(charts, time_axis), *others[1:], *partition_maps(charts, time_axis))


def _title(analysis: Analysis) -> str:
    files = ", ".join(short_name(file) for file in analysis.seen.files[:2])
    return f"{headline(analysis)} - {files}"


def _head(analysis: Analysis) -> Iterator[str]:
    worst = max(analysis.findings, key=lambda finding: finding.severity.rank, default=None)
    kind = worst.severity.value if worst else "ok"
    yield f'<header class="{kind}"><div class="line"><h1>{escape(headline(analysis))}</h1>'
    yield f'<p id="since">{text(since_text(analysis))}</p>'
    yield '<label class="theme">colours <select id="theme">'
    yield "".join(f"<option>{theme}</option>" for theme in _THEMES)
    yield "</select></label></div>"
    yield from facts_list(analysis)
    yield '<nav aria-label="parts of this page"><a href="#insights">insights</a> <a href="#charts">over time</a> '
    yield '<a href="#connections">connections</a> <a href="#coverage">coverage</a> <a href="#tables">tables</a></nav>'
    yield "</header>"


def _charts(figures: Sequence[Figure]) -> Iterator[str]:
    yield '<section id="charts" aria-labelledby="charts-h"><h2 id="charts-h">Over time</h2>'
    if not figures:
        yield "<p>No data to draw.</p></section>"
        return
    yield '<p class="remark" id="how">Dashed lines mark the first finding of each kind, by its number. Point at '
    yield "a chart, or use the arrow keys in it, to see the values at a time.</p>"
    for choice, several in groupby(figures, key=lambda figure: figure.choice):
        yield from _choice(choice, tuple(several))
    yield "</section>"


def _choice(choice: str, figures: Sequence[Figure]) -> Iterator[str]:
    """Figures one below the other, or of one choice: the first is shown, a button for each shows another."""
    if choice and len(figures) > 1:
        yield f'<fieldset class="tools"><legend>{choice} by</legend>'
        for number, figure in enumerate(figures):
            checked = " checked" if number == 0 else ""
            yield f'<label><input type="radio" name="{choice}" value="{figure.key}"{checked}> {figure.word}</label>'
        yield "</fieldset>"
    for number, figure in enumerate(figures):
        yield from _figure(figure, is_hidden=bool(choice) and number > 0)


def _figure(figure: Figure, *, is_hidden: bool) -> Iterator[str]:
    css = "chart rows" if figure.has_rows else "chart"
    hidden = " hidden" if is_hidden else ""
    key = figure.key
    yield f'<figure class="{css}" id="{key}"{hidden}><figcaption><h3 id="{key}-h">{escape(figure.title)}</h3>'
    yield f'<p>{escape(figure.summary)}</p></figcaption><ul class="legend">'
    for label, colour in figure.legend:
        swatch = f'<rect width="10" height="10" fill="{colour}"/>'
        yield f'<li><svg width="10" height="10" aria-hidden="true">{swatch}</svg> {escape(label)}</li>'
    yield "</ul>"
    yield f'<div class="plot" tabindex="0" role="img" aria-label="{text(figure.title)}: {text(figure.summary)}" '
    yield f'aria-describedby="how" data-figure="{key}">'
    for drawn in figure.drawn:
        x, y, width, height = drawn.plot
        picture = vega_svg(drawn.spec).replace(
            "<svg ", f'<svg aria-hidden="true" data-plot="{x} {y} {width} {height}" ', 1
        )
        yield picture.replace('class="marks"', f'class="marks {drawn.canvas.css}"', 1)
    yield "</div>"
    yield from folded("the figures as a table", table(figure.table))
    yield "</figure>"


def _coverage(analysis: Analysis) -> Iterator[str]:
    yield '<section id="coverage" aria-labelledby="coverage-h"><h2 id="coverage-h">What could not be read</h2>'
    kinds = exchanges_by_decoding(analysis)
    told = ", ".join(
        f"{count:,} {short_name(kind)}" for kind, count in sorted(kinds.items(), key=lambda item: (-item[1], item[0]))
    )
    spoken = ", ".join(f"{count:,} {short_name(kind)}" for kind, count in sorted(analysis.protocols.items()))
    yield f"<p>Exchanges decoded: {escape(told or 'none')}. Connections: {escape(spoken or 'none')}.</p>"
    losses = analysis.answers.get("loss_kinds", Answer())
    if not losses.rows:
        yield "<p>Every byte of every connection was decoded.</p></section>"
        return
    rows = tuple(
        (row["kind"], size(row["bytes"]), f"{row['times']:,}", f"{row['connections']:,}", row["detail"] or "")
        for row in losses.rows
    )
    yield from table(
        Table(
            caption="Bytes that netdiag did not decode, and why",
            headings=("reason", "bytes", "times", "connections", "for instance"),
            rows=rows,
            numbers=(False, True, True, True, False),
        )
    )
    yield "</section>"


def _tables(analysis: Analysis) -> Iterator[str]:
    yield '<section id="tables" aria-labelledby="tables-h"><h2 id="tables-h">Tables</h2>'
    for section in (*SECTIONS, *STORED_SECTIONS):
        answer = analysis.answers.get(section.answer, Answer())
        kept = [row for row in answer.rows if section.keep(row)]
        if kept:
            cut = answer.total - len(answer.rows)
            # Of rows that were cut from the answer nobody knows how many a condition would have kept.
            is_open = cut > 0 and section.keep is not all_rows
            whole = len(kept) + (0 if is_open else cut)
            shown = replace(_section(section, kept, whole), is_open=is_open)
            number = f"{whole:,} or more" if is_open else f"{whole:,}"
            yield from folded(f"{escape(section.title)} <small>{number}</small>", table(shown))
    yield "</section>"


def _section(section: Section, kept: Sequence[object], whole: int) -> Table:
    rows = kept[:MOST_ROWS]
    return Table(
        caption=section.title,
        headings=tuple(column.heading or "bytes" for column in section.columns),
        rows=tuple(tuple(column.value(row) for column in section.columns) for row in rows),  # type: ignore[arg-type]
        numbers=(False, *(column.is_number for column in section.columns[1:])),
        more=whole - len(rows),
    )


def _data(analysis: Analysis, figures: Sequence[Figure]) -> dict[str, object]:
    """What the script tells at the pointer: of every chart the values, by column."""
    if analysis.charts is None:
        return {"charts": {}}
    span = analysis.charts.span
    return {
        "first": span.first / 1000,
        "last": span.end / 1000,
        "length": span.length / 1000,
        "charts": {
            figure.key: {
                "unit": figure.unit,
                "rows": figure.has_rows,
                "columns": figure.columns,
                "series": [[one.label, one.colour, [_short(value) for value in one.values]] for one in figure.series],
            }
            for figure in figures
        },
    }


def _short(value: float | None) -> float | None:
    """Six digits: the page is to stay small."""
    if value is None:
        return None
    return int(value) if value == int(value) else float(f"{value:.6g}")


def _ours(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def worst_first(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The worst first, those of one rule together, by when each was first seen."""
    first: dict[tuple[Severity, str], int] = {}
    for finding in findings:
        key = (finding.severity, finding.rule)
        first[key] = min(first.get(key, _time(finding) or 0), _time(finding) or 0)

    def order(finding: Finding) -> tuple[int, int, str, int]:
        begin = first[finding.severity, finding.rule]
        return -finding.severity.rank, begin, finding.rule, _time(finding) or 0

    return tuple(sorted(findings, key=order))


def finding_marks(findings: Sequence[Finding]) -> tuple[FindingMark, ...]:
    """Where findings that are in order stand on the axis of time: the first of each kind."""
    kinds: dict[tuple[Severity, str], FindingMark] = {}
    for number, finding in enumerate(findings, 1):
        time = _time(finding)
        if time is not None:
            moment = FindingMark(number=number, time=time // 1000, colour=_COLOURS[finding.severity])
            kinds.setdefault((finding.severity, finding.rule), moment)
    return tuple(kinds.values())[:_MOST_MARKS]


def headline(analysis: Analysis) -> str:
    """The first line of the page."""
    if not analysis.findings:
        return "Nothing wrong was found" if analysis.exchanges else "These captures contain no readable Kafka traffic"
    counts = {kind: sum(finding.severity is kind for finding in analysis.findings) for kind in Severity}
    parts = [plural(count, kind.value) for kind, count in counts.items() if count]
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


def since_text(analysis: Analysis) -> str:
    """When the worst of it was first seen."""
    worst = max((finding.severity.rank for finding in analysis.findings), default=0)
    those = [finding for finding in analysis.findings if finding.severity.rank == worst]
    times = [time for finding in those if (time := _time(finding)) is not None]
    if not times:
        return ""
    first, begin = min(times), analysis.seen.first
    into = f", {duration((first - begin) / 1e6)} into the capture" if begin is not None and first > begin else ""
    return f"since {moment(first)} UTC{into}"


def facts_list(analysis: Analysis) -> Iterator[str]:
    """What was looked at, in a few figures."""
    seen = analysis.seen
    yield '<dl id="facts">'
    for term, value, note in _facts(analysis):
        yield f"<div><dt>{escape(term)}</dt><dd>{text(value)}<small>{text(note)}</small></dd></div>"
    yield "</dl>"
    files = ", ".join(short_name(file, _LONGEST_NAME) for file in seen.files[:3]) + (
        f" and {len(seen.files) - 3} more" if len(seen.files) > 3 else ""
    )
    span = ""
    if seen.first is not None and seen.last is not None:
        span = f", {moment(seen.first)} to {moment(seen.last)} UTC"
    yield f'<p id="source">{escape(files)}: {size(seen.bytes)}, {seen.packets:,} packets{span}</p>'


def finding_cards(found: Sequence[Finding]) -> Iterator[str]:
    """Every finding, in order; what a rule says several times is one card."""
    if not found:
        yield "<p>No rule reports a problem in these captures.</p>"
        return
    cards: dict[tuple[Severity, str], list[tuple[int, Finding]]] = {}
    for number, finding in enumerate(found, 1):
        cards.setdefault((finding.severity, finding.rule), []).append((number, finding))
    kinds = list(cards.values())
    yield from _cards(kinds[:_KINDS_OPEN])
    if len(kinds) > _KINDS_OPEN:
        rest = sum(map(len, kinds[_KINDS_OPEN:]))
        yield from folded(f"{rest} more, of {len(kinds) - _KINDS_OPEN} other kinds", _cards(kinds[_KINDS_OPEN:]))


def _cards(kinds: Sequence[Sequence[tuple[int, Finding]]]) -> Iterator[str]:
    yield '<ol class="findings">'
    for kind in kinds:
        yield from _card(kind)
    yield "</ol>"


def _card(kind: Sequence[tuple[int, Finding]]) -> Iterator[str]:
    (number, finding), *alike = kind
    word = finding.severity.value
    yield f'<li class="{word}"><h3>{_badge(number)} <span class="kind">{word}</span> '
    yield f"{_sentence(finding.message)}</h3>"
    yield f'<p class="where">{_place(finding.location)}</p>'
    if finding.hint:
        yield f'<p class="hint"><b>Do:</b> {_sentence(finding.hint)}</p>'
    if finding.why:
        yield f'<p class="why"><b>Why:</b> {_sentence(finding.why)} <code>{escape(short_name(finding.rule))}</code></p>'
    yield from _related(finding)
    if alike:
        yield from _alike_items(alike[:_ALIKE])
    if len(alike) > _ALIKE:
        yield from folded(f"{len(alike) - _ALIKE} more like this", _alike_items(alike[_ALIKE:]))
    yield "</li>"


def _alike_items(those: Sequence[tuple[int, Finding]]) -> Iterator[str]:
    yield '<ul class="alike">'
    for number, finding in those:
        yield f"<li>{_badge(number)} <b>{_sentence(finding.message)}</b> "
        yield f'<span class="where">{_place(finding.location)}</span></li>'
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
        yield f'<li>{_sentence(related.message)} <span class="where">{_place(related.location)}</span></li>'
    yield "</ul>"


def _sentence(sentence: str) -> str:
    return escape(short_name(redacted(sentence), _LONGEST_SENTENCE))


def _badge(number: int) -> str:
    return f'<span class="badge" id="finding-{number}">{number}</span>'


def _place(place: Location) -> str:
    """Where and since when something was seen; "" for what is in no capture."""
    if not isinstance(place, WireLocation):
        return ""
    packet = f"packet {place.packet:,} of " if place.packet is not None else ""
    since = f'since <time datetime="{_machine(place.time)}">{moment(place.time)}</time>'
    who, file = (escape(short_name(name, _LONGEST_NAME)) for name in (place.connection, place.file))
    return f"<bdi>{who}</bdi>, {since}, {packet}<bdi>{file}</bdi>"


def _machine(time: int) -> str:
    return moment(time).replace(" ", "T") + "Z"


def _time(finding: Finding) -> int | None:
    return finding.location.time if isinstance(finding.location, WireLocation) else None


def _facts(analysis: Analysis) -> Iterator[tuple[str, str, str]]:
    seen = analysis.seen
    kinds = exchanges_by_decoding(analysis)
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


def table(shown: Table) -> Iterator[str]:
    """A table with a caption, its headings told as such; the first column heads the rows."""
    numbers = shown.numbers or (False,) * len(shown.headings)
    yield f'<div class="scroll" tabindex="0" role="region" aria-label="{text(shown.caption)}"><table>'
    yield f"<caption>{text(shown.caption)}{_more(shown)}</caption>"
    heads = "".join(
        f'<th scope="col"{_class(number)}>{text(heading)}</th>'
        for heading, number in zip(shown.headings, numbers, strict=True)
    )
    yield f"<thead><tr>{heads}</tr></thead><tbody>"
    for row in shown.rows:
        yield f"<tr>{_cells(row, numbers)}</tr>"
    yield "</tbody></table></div>"


def _more(shown: Table) -> str:
    least = "at least " if shown.is_open else ""
    if shown.more > 0:
        return f" ({least}{shown.more:,} more are not shown)"
    return " (others with less may not be shown)" if shown.is_open else ""


def folded(summary: str, inside: Iterator[str], *, css: str = "figures") -> Iterator[str]:
    """What opens when it is asked for."""
    yield f'<details class="{css}"><summary>{summary}</summary>'
    yield from inside
    yield "</details>"


def text(foreign: str) -> str:
    """Foreign text, whole, for an element or a quoted attribute."""
    return escape(visible(foreign))


def name(foreign: str | None) -> str:
    """A foreign name: short, with all of it where the pointer rests if that says more."""
    if foreign is None:
        return '<span class="none">-</span>'
    short, whole = short_name(foreign), visible(foreign)
    told = f' title="{escape(whole)}"' if short != whole else ""
    return f"<bdi{told}>{escape(short)}</bdi>"


def _cells(row: Sequence[str], numbers: Sequence[bool]) -> str:
    first, *others = row
    cells = "".join(
        f"<td{_class(number)}>{name(cell) if not number else text(cell)}</td>"
        for cell, number in zip(others, numbers[1:], strict=True)
    )
    return f'<th scope="row">{name(first)}</th>{cells}'


def _class(is_number: bool) -> str:
    return ' class="number"' if is_number else ""


@dataclass(frozen=True, slots=True)
class _Column:
    heading: str
    value: Callable[[Row], Any]
    told: Callable[[Any], str] = str
    is_number: bool = True


def _name_column(heading: str, field: str) -> _Column:
    return _Column(heading, lambda row: row[field], name, is_number=False)


def _count_column(heading: str, field: str) -> _Column:
    return _Column(heading, lambda row: row[field], lambda value: f"{value:,}")


_CONNECTION_COLUMNS = (
    _name_column("client", "client"),
    _name_column("broker", "broker"),
    _name_column("client.id", "client_id"),
    _Column("trouble", lambda row: row["trouble"]),
    _Column("begin (UTC)", lambda row: row["first_time"], lambda value: moment(value)),
    _Column("length", lambda row: row["seconds"], lambda value: duration(1000 * value)),
    _name_column("opening", "opening"),
    _name_column("ending", "ending"),
    _name_column("speaks", "protocol"),
    _count_column("requests", "requests"),
    _count_column("errors", "errors"),
    _count_column("unanswered", "unanswered"),
    _Column("bytes", lambda row: row["client_bytes"] + row["broker_bytes"], size),
    _count_column("sent again", "retransmissions"),
    _count_column("zero windows", "zero_windows"),
    _Column("lost", lambda row: row["lost_bytes"], size),
    _Column("handshake", lambda row: row["handshake_ms"], duration),
    _name_column("software", "client_software"),
)


def connection_table(charts: Charts) -> Iterator[str]:
    """The section; nothing without a connection."""
    answer = charts.answers.get("worst_connections")
    if answer is None or not answer.rows:
        return
    troubled = sum(row["trouble"] > 0 for row in answer.rows)
    yield '<section id="connections" aria-labelledby="connections-h"><h2 id="connections-h">Connections one by one</h2>'
    cut = f" of {answer.total:,}" if answer.total > len(answer.rows) else ""
    yield f"<p>{len(answer.rows):,} connections{cut}, those with the most kinds of problems first, then by bytes. "
    yield f"Something went wrong on {troubled:,} of these.</p>"
    yield '<form class="tools" role="search" aria-label="connections"><label>filter '
    yield '<input id="filter" type="search" autocomplete="off" placeholder="address, client.id, reset" '
    yield 'aria-controls="connection-rows"></label>'
    yield '<label><input id="troubled" type="checkbox"> only those with problems</label>'
    yield f'<output id="shown" role="status" aria-live="polite">{len(answer.rows):,} shown</output></form>'
    yield '<div class="scroll tall" tabindex="0" role="region" aria-label="connections one by one"><table id="rows">'
    yield "<caption>Connections; a heading sorts by its column</caption><thead><tr>"
    for column in _CONNECTION_COLUMNS:
        css = ' class="number"' if column.is_number else ""
        yield f'<th scope="col"{css}><button type="button">{escape(column.heading)}</button></th>'
    yield '</tr></thead><tbody id="connection-rows">'
    for row in answer.rows:
        yield _connection_row(row)
    yield "</tbody></table></div></section>"


def _connection_row(row: Row) -> str:
    cells: list[str] = []
    for column in _CONNECTION_COLUMNS:
        value = column.value(row)
        if not column.is_number:
            tag = ("th scope='row'", "th") if not cells else ("td", "td")
            cells.append(f"<{tag[0]}>{name(value)}</{tag[1]}>")
            continue
        told = "-" if value is None else column.told(value)
        key = "" if value is None else f' data-v="{_sort_key(value)}"'
        cells.append(f'<td class="number"{key}>{text(told)}</td>')
    css = ' class="trouble"' if row["trouble"] else ""
    return f"<tr{css}>{''.join(cells)}</tr>"


def _sort_key(value: float) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
