"""The table of connections: the worst of them, to be searched and sorted."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from netdiag.render.analysis_page.elements import name, text
from netdiag.render.analysis_sections import duration, moment, size
from netdiag.traffic.analysis import Charts

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Column:
    heading: str
    value: Callable[[Row], Any]
    told: Callable[[Any], str] = str
    is_number: bool = True


def _name(heading: str, field: str) -> _Column:
    return _Column(heading, lambda row: row[field], name, is_number=False)


def _count(heading: str, field: str) -> _Column:
    return _Column(heading, lambda row: row[field], lambda value: f"{value:,}")


_COLUMNS = (
    _name("client", "client"),
    _name("broker", "broker"),
    _name("client.id", "client_id"),
    _Column("trouble", lambda row: row["trouble"]),
    _Column("begin (UTC)", lambda row: row["first_time"], lambda value: moment(value)),
    _Column("length", lambda row: row["seconds"], lambda value: duration(1000 * value)),
    _name("opening", "opening"),
    _name("ending", "ending"),
    _name("speaks", "protocol"),
    _count("requests", "requests"),
    _count("errors", "errors"),
    _count("unanswered", "unanswered"),
    _Column("bytes", lambda row: row["client_bytes"] + row["broker_bytes"], size),
    _count("sent again", "retransmissions"),
    _count("zero windows", "zero_windows"),
    _Column("lost", lambda row: row["lost_bytes"], size),
    _Column("handshake", lambda row: row["handshake_ms"], duration),
    _name("software", "client_software"),
)


def connections(charts: Charts) -> Iterator[str]:
    """The section; nothing without a connection."""
    answer = charts.answers.get("worst_connections")
    if answer is None or not answer.rows:
        return
    troubled = sum(row["trouble"] > 0 for row in answer.rows)
    yield '<section id="connections" aria-labelledby="connections-h"><h2 id="connections-h">Connections one by one</h2>'
    cut = f" of {answer.total:,}" if answer.total > len(answer.rows) else ""
    yield f"<p>{len(answer.rows):,} connections{cut}, those with most kinds of trouble first, then by bytes. "
    yield f"Something went wrong on {troubled:,} of these.</p>"
    yield '<form class="tools" role="search" aria-label="connections"><label>filter '
    yield '<input id="filter" type="search" autocomplete="off" placeholder="address, client.id, reset" '
    yield 'aria-controls="connection-rows"></label>'
    yield '<label><input id="troubled" type="checkbox"> only those with trouble</label>'
    yield f'<output id="shown" role="status" aria-live="polite">{len(answer.rows):,} shown</output></form>'
    yield '<div class="scroll tall" tabindex="0" role="region" aria-label="connections one by one"><table id="rows">'
    yield "<caption>Connections; a heading sorts by its column</caption><thead><tr>"
    for column in _COLUMNS:
        css = ' class="number"' if column.is_number else ""
        yield f'<th scope="col"{css}><button type="button">{escape(column.heading)}</button></th>'
    yield '</tr></thead><tbody id="connection-rows">'
    for row in answer.rows:
        yield _row(row)
    yield "</tbody></table></div></section>"


def _row(row: Row) -> str:
    cells: list[str] = []
    for column in _COLUMNS:
        value = column.value(row)
        if not column.is_number:
            tag = ("th scope='row'", "th") if not cells else ("td", "td")
            cells.append(f"<{tag[0]}>{name(value)}</{tag[1]}>")
            continue
        told = "-" if value is None else column.told(value)
        key = "" if value is None else f' data-v="{_key(value)}"'
        cells.append(f'<td class="number"{key}>{text(told)}</td>')
    css = ' class="trouble"' if row["trouble"] else ""
    return f"<tr{css}>{''.join(cells)}</tr>"


def _key(value: float) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
