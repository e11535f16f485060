"""A topology as one page that needs nothing else: no network, no other file, no server.

First a table that answers who can reach which broker, by which address, and where it stops; below it the picture, in
which everything can be pressed and then tells its story. Style and script are ours, named by their digests in the
page's content security policy (CSP level 3), so that nothing else runs in it. Foreign names are text everywhere: in
HTML and SVG escaped, in the data as JSON without a "<", and put in place by textContent.
"""

import json
from base64 import b64encode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files

from netdiag.findings import Finding
from netdiag.render.redact import redacted
from netdiag.render.topology.coverage import coverage_line
from netdiag.render.topology.drawing import drawing, mark_sign, total_height
from netdiag.render.topology.layout import Picture, layout
from netdiag.render.topology.lettering import natural, visible
from netdiag.render.topology.scene import Scene, listener_key, scene
from netdiag.render.topology.stories import Stories
from netdiag.render.topology.verdicts import WORDS, Cell, Column, Judge, Mark, Verdicts, called, verdicts
from netdiag.render.topology.wiring import BarKind
from netdiag.topology.graph import Topology

QUESTION = "Who can reach this broker, by which address, and where does it stop?"
# A table of more columns than these is set narrow: a cell shows the beginning of what it says.
_COLUMNS = 5
# So many of the things that are wrong stand above everything.
_WRONG = 3
# So many names stand in the head of a column before the rest is counted.
_NAMES = 2


def page(topology: Topology, *, findings: Sequence[Finding] = (), title: str = "") -> str:
    """The page; equal topologies give equal text."""
    judge = Judge(topology=topology)
    drawn = scene(judge, findings)
    picture = layout(drawn)
    table = verdicts(judge)
    stories = Stories(judge, drawn, {column.sources[0] for column in table.columns})
    for index, column in enumerate(table.columns):
        stories.add_vantage(f"column:{index}", column.sources)
    style, script = _ours("picture.css") + _ours("page.css"), _ours("page.js")
    data = {
        "stories": stories.stories,
        "hops": stories.hops,
        "names": stories.names,
        "words": {m.value: w for m, w in WORDS.items()},
    }
    title = visible(title or f"network of {drawn.host}")
    lines = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(style, script)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">',
        f"<title>{escape(title)}</title>",
        f"<style>{style}</style></head><body>",
        f'<header><h1>{QUESTION}</h1><p id="summary">{escape(table.summary)}</p>',
        *_wrong(drawn),
        "</header>",
        f'<svg class="signs" aria-hidden="true">{_signs()}</svg>',
        *_table(table, topology),
        *_tools(drawn),
        *_picture(picture, title),
        '<aside id="story" aria-label="story of what is chosen" hidden></aside></main>',
        f'<footer><p id="coverage">{_footer(topology)}</p></footer>',
        f'<script type="application/json" id="data">{_json(data)}</script>',
        f"<script>{script}</script>",
        "</body></html>",
    ]
    return "\n".join(lines) + "\n"


def _ours(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    digests = (b64encode(sha256(text.encode()).digest()).decode() for text in (style, script))
    styles, scripts = (f"'sha256-{digest}'" for digest in digests)
    return f"default-src 'none'; style-src {styles}; script-src {scripts}; base-uri 'none'; form-action 'none'"


def _json(data: object) -> str:
    """JSON that can stand in a script element: nothing in it ends the element or begins a comment."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _wrong(drawn: Scene) -> Iterator[str]:
    """The worst of what is wrong, each leading to what it is said of; what concerns brokers comes first."""
    ours = _of_brokers(drawn)
    told = [(fault, key) for key, those in (*drawn.faults.items(), ("", drawn.stray)) for fault in those]
    told.sort(key=lambda pair: (pair[1] not in ours, -pair[0].severity.rank))
    if not told:
        return
    yield '<ul id="wrong" aria-label="what is wrong">'
    for fault, key in told[:_WRONG]:
        text = f"<b>{fault.severity.value}</b> {escape(visible(fault.text))}"
        pressed = f'<button type="button" data-open="{escape(visible(key))}">{text}</button>' if key else text
        yield f'<li class="{fault.severity.value}">{pressed}</li>'
    if len(told) > _WRONG:
        yield f"<li>and {len(told) - _WRONG} more, marked in the picture</li>"
    yield "</ul>"


def _of_brokers(drawn: Scene) -> set[str]:
    """The keys of brokers and of what they hang from."""
    boxes = {box.key for box in drawn.boxes if box.rows}
    rows = {row.key for box in drawn.boxes for row in box.rows}
    bars = {bar.key for bar in drawn.bars if any(hanging.place in boxes for hanging in bar.hanging)}
    return boxes | rows | bars | {pill.key for pill in drawn.pills if pill.box in boxes}


def _signs() -> str:
    """The signs of the table, once."""
    return "".join(
        f'<symbol id="sign-{mark.value}" viewBox="-8 -8 16 16"><circle r="7"/><path d="{mark_sign(mark)}"/></symbol>'
        for mark in Mark
    )


def _table(table: Verdicts, topology: Topology) -> Iterator[str]:
    note = f'<p class="note">{escape(visible(topology.reach_note))}</p>' if topology.reach_note else ""
    if not table.brokers or not table.columns:
        yield note
        return
    wide = ' class="wide"' if len(table.columns) > _COLUMNS else ""
    yield f'<section id="reach"{wide} aria-label="who reaches which broker"><table>'
    yield "<caption>each broker, seen from each place: the address that works, or where it stops</caption>"
    heads = "".join(_head(index, column) for index, column in enumerate(table.columns))
    yield f'<thead><tr><th scope="col">broker</th>{heads}</tr></thead><tbody>'
    first = {one.broker: one.key for one in reversed(topology.listeners) if not one.controller}
    for number, broker in enumerate(table.brokers):
        key = escape(visible(listener_key(first[broker])))
        name = f'<button type="button" data-open="{key}">{escape(visible(broker))}</button>'
        cells = "".join(_cell(column.cells[number], column) for column in table.columns)
        yield f'<tr><th scope="row">{name}</th>{cells}</tr>'
    yield f"</tbody></table>{note}</section>"


def _head(index: int, column: Column) -> str:
    names = [visible(called(name)) for name in column.sources]
    more = len(names) - _NAMES
    shown = ", ".join(names[:_NAMES]) + (f" and {more} more" if more > 0 else "")
    return f'<th scope="col"><button type="button" data-open="column:{index}">from {escape(shown)}</button></th>'


def _cell(cell: Cell, column: Column) -> str:
    sign = f'<svg class="mark {cell.mark.value}" aria-hidden="true"><use href="#sign-{cell.mark.value}"/></svg>'
    text, why = escape(visible(cell.text)), escape(visible(cell.because))
    word = WORDS[cell.mark]
    if cell.mark is Mark.NONE:
        return f'<td class="none">{text}</td>'
    key, source = escape(visible(listener_key(cell.listener))), escape(visible(called(column.sources[0])))
    return (
        f'<td class="{cell.mark.value}"><button type="button" data-open="{key}" data-source="{source}" title="{why}">'
        f"{sign}<span><b>{word}</b> {text}</span></button></td>"
    )


def _footer(topology: Topology) -> str:
    """What was read, what could not be, and whom of the engines was asked."""
    told = filter(None, (coverage_line(topology.inventory), topology.engine))
    return " · ".join(escape(visible(redacted(text))) for text in told)


def _tools(drawn: Scene) -> Iterator[str]:
    networks = sorted({bar.title for bar in drawn.bars if bar.kind is BarKind.NETWORK}, key=natural)
    services = sorted({name for box in drawn.boxes for name in box.services}, key=natural)
    yield '<section id="tools" aria-label="tools"><label>search <input id="search" type="search" autocomplete="off" '
    yield 'placeholder="name, address, port, rule" aria-controls="found"></label>'
    for name, values in (("network", networks), ("service", services)):
        yield f'<label>{name} <select id="{name}"><option value="">all</option>'
        yield "".join(f'<option value="{escape(v)}">{escape(v)}</option>' for v in map(visible, values))
        yield "</select></label>"
    yield '<span class="zoom"><button type="button" id="out" aria-label="smaller">−</button>'
    yield '<button type="button" id="in" aria-label="larger">+</button>'
    yield '<button type="button" id="fit">all of it</button></span>'
    yield '<span id="status" role="status"></span><ul id="found" hidden></ul></section>'


def _picture(picture: Picture, title: str) -> Iterator[str]:
    width, height = f"{picture.width:.0f}", f"{total_height(picture):.0f}"
    yield '<main><a class="skip" href="#coverage">skip the picture</a>'
    yield '<div id="view" tabindex="0" role="group" aria-label="picture: arrow keys move it, plus and minus size it">'
    yield f'<svg class="picture" viewBox="0 0 {width} {height}" data-width="{width}" data-height="{height}" '
    yield f'role="group" aria-label="{escape(title)}">'
    yield from drawing(picture, live=True)
    yield "</svg></div>"
