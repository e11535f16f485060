"""The page of an analysis: no network, no other file, no server.

Style and script are ours and named by their digests in the page's content security policy (CSP level 3), so that
nothing else runs in it; pictures are SVG of Vega without style or script. Foreign names are text everywhere: escaped in
HTML and SVG, in the data as JSON without a "<", and put in place by textContent. Without the script everything is
there but the pointer's values, filter and sorting. The page is as large as its charts and its cut tables are, whatever
the captures hold.
"""

import json
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from html import escape
from importlib.resources import files
from itertools import groupby

from netdiag.findings import Finding
from netdiag.render.analysis_page import insights
from netdiag.render.analysis_page.canvas import Grid
from netdiag.render.analysis_page.connections import connections
from netdiag.render.analysis_page.elements import folded, table, text
from netdiag.render.analysis_page.figure import Figure, Table
from netdiag.render.analysis_page.group_chart import rebalances
from netdiag.render.analysis_page.heat_maps import broker_maps, partition_maps
from netdiag.render.analysis_page.time_charts import time_figures
from netdiag.render.analysis_page.vega import svg
from netdiag.render.analysis_page.wording import plain
from netdiag.render.analysis_sections import SECTIONS, Section, every, size
from netdiag.traffic.analysis import Analysis, Answer

TITLE = "netdiag: what these captures say"
# By which a page of ours is known.
GENERATOR = '<meta name="generator" content="netdiag analyze">'
# Of the tables of the text output so many rows; the Parquet of --out has all.
ROWS = 50
_THEMES = ("system", "light", "dark")


def page(analysis: Analysis) -> str:
    """The page; equal analyses give equal text. MissingExtra without vl-convert-python."""
    found = insights.in_order(analysis.findings)
    figures = _figures(analysis, found)
    style, script = _ours("page.css"), _ours("page.js")
    lines = [
        "<!doctype html>",
        f'<html lang="en"><head><meta charset="utf-8">{GENERATOR}',
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(style, script)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">',
        f"<title>{escape(_title(analysis))}</title>",
        f"<style>{style}</style></head><body>",
        '<a class="skip" href="#charts">skip to the charts</a>',
        *_head(analysis),
        "<main>",
        '<section id="insights" aria-labelledby="insights-h"><h2 id="insights-h">What is wrong</h2>',
        *insights.findings(found),
        "</section>",
        *_charts(figures),
        *(connections(analysis.charts) if analysis.charts else ()),
        *_coverage(analysis),
        *_tables(analysis),
        "</main>",
        f"<footer><p>{escape(TITLE)}. Times are UTC. Nothing is fetched, stored or sent by this page.</p></footer>",
        f'<script type="application/json" id="data">{_json(_data(analysis, figures))}</script>',
        f"<script>{script}</script>",
        "</body></html>",
    ]
    return "\n".join(lines) + "\n"


def _figures(analysis: Analysis, found: Sequence[Finding]) -> tuple[Figure, ...]:
    if analysis.charts is None:
        return ()
    charts = analysis.charts
    grid = Grid(span=charts.span, moments=insights.moments(found))
    groups = rebalances(analysis, grid)
    others = (*time_figures(charts, grid), *((groups,) if groups else ()))
    # What answers "where" stands behind what answers "since when".
    return (*others[:1], *broker_maps(charts, grid), *others[1:], *partition_maps(charts, grid))


def _title(analysis: Analysis) -> str:
    files = ", ".join(plain(file) for file in analysis.seen.files[:2])
    return f"{insights.verdict(analysis)} - {files}"


def _head(analysis: Analysis) -> Iterator[str]:
    worst = max(analysis.findings, key=lambda finding: finding.severity.rank, default=None)
    kind = worst.severity.value if worst else "ok"
    yield f'<header class="{kind}"><div class="line"><h1>{escape(insights.verdict(analysis))}</h1>'
    yield f'<p id="since">{text(insights.since(analysis))}</p>'
    yield '<label class="theme">colours <select id="theme">'
    yield "".join(f"<option>{theme}</option>" for theme in _THEMES)
    yield "</select></label></div>"
    yield from insights.facts(analysis)
    yield '<nav aria-label="parts of this page"><a href="#insights">insights</a> <a href="#charts">over time</a> '
    yield '<a href="#connections">connections</a> <a href="#coverage">coverage</a> <a href="#tables">tables</a></nav>'
    yield "</header>"


def _charts(figures: Sequence[Figure]) -> Iterator[str]:
    yield '<section id="charts" aria-labelledby="charts-h"><h2 id="charts-h">Over time</h2>'
    if not figures:
        yield "<p>There is nothing to draw.</p></section>"
        return
    yield '<p class="remark" id="how">Dashed lines are the first finding of each kind, by its number. The pointer, or '
    yield "the arrow keys in a chart, tell the values of a moment.</p>"
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
        picture = svg(drawn.spec).replace("<svg ", f'<svg aria-hidden="true" data-plot="{x} {y} {width} {height}" ', 1)
        yield picture.replace('class="marks"', f'class="marks {drawn.canvas.css}"', 1)
    yield "</div>"
    yield from folded("the figures as a table", table(figure.table))
    yield "</figure>"


def _coverage(analysis: Analysis) -> Iterator[str]:
    yield '<section id="coverage" aria-labelledby="coverage-h"><h2 id="coverage-h">What could not be read</h2>'
    kinds: dict[str, int] = {}
    for row in analysis.rows("coverage"):
        kinds[row["decoded"]] = kinds.get(row["decoded"], 0) + int(row["exchanges"])
    told = ", ".join(
        f"{count:,} {plain(kind)}" for kind, count in sorted(kinds.items(), key=lambda item: (-item[1], item[0]))
    )
    spoken = ", ".join(f"{count:,} {plain(kind)}" for kind, count in sorted(analysis.protocols.items()))
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
            caption="Bytes that were not decoded, and why",
            headings=("reason", "bytes", "times", "connections", "for instance"),
            rows=rows,
            numbers=(False, True, True, True, False),
        )
    )
    yield "</section>"


def _tables(analysis: Analysis) -> Iterator[str]:
    yield '<section id="tables" aria-labelledby="tables-h"><h2 id="tables-h">Tables</h2>'
    for section in SECTIONS:
        answer = analysis.answers.get(section.answer, Answer())
        kept = [row for row in answer.rows if section.keep(row)]
        if kept:
            cut = answer.total - len(answer.rows)
            # Of rows that were cut from the answer nobody knows how many a condition would have kept.
            is_open = cut > 0 and section.keep is not every
            whole = len(kept) + (0 if is_open else cut)
            shown = replace(_section(section, kept, whole), is_open=is_open)
            number = f"{whole:,} or more" if is_open else f"{whole:,}"
            yield from folded(f"{escape(section.title)} <small>{number}</small>", table(shown))
    yield "</section>"


def _section(section: Section, kept: Sequence[object], whole: int) -> Table:
    rows = kept[:ROWS]
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


def _policy(style: str, script: str) -> str:
    digests = (b64encode(sha256(one.encode()).digest()).decode() for one in (style, script))
    styles, scripts = (f"'sha256-{digest}'" for digest in digests)
    return f"default-src 'none'; style-src {styles}; script-src {scripts}; base-uri 'none'; form-action 'none'"


def _json(data: object) -> str:
    """JSON that can stand in a script element: nothing in it ends the element or begins a comment."""
    found = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return found.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
