"""What a notebook shows: the lines that a terminal would show as HTML, and rows as a table; without scripts."""

from collections.abc import Iterable, Sequence
from html import escape

from netdiag.render.screen import Line, Style

_COLOURS = {
    Style.BOLD: "font-weight:bold",
    Style.DIM: "opacity:.6",
    Style.ERROR: "font-weight:bold;color:#c62828",
    Style.WARNING: "font-weight:bold;color:#b26a00",
    Style.NOTE: "font-weight:bold;color:#00838f",
    Style.BAD: "color:#c62828",
    Style.HALF: "color:#b26a00",
    Style.GOOD: "color:#2e7d32",
    Style.PLACE: "color:#00838f",
}


def lines_html(lines: Iterable[Line]) -> str:
    """The lines in a block of fixed width."""
    text = "\n".join("".join(_run(run.text, run.style) for run in line).rstrip(" ") for line in lines)
    return f'<pre style="line-height:1.3">{text}</pre>'


def table_html(columns: Sequence[str], rows: Iterable[Sequence[object]], note: str) -> str:
    """The rows in a table, with a note below it."""
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(f'<td>{_cell(value)}</td>' for value in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{escape(note)}</p>"


def _run(text: str, style: Style) -> str:
    css = _COLOURS.get(style)
    return f'<span style="{css}">{escape(text)}</span>' if css else escape(text)


def _cell(value: object) -> str:
    return "" if value is None else escape(str(value))
