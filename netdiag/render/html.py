"""HTML that needs nothing else: policy and data of our pages, labels of their pictures, lines and tables in a notebook.

Style and script of a page are ours and named by their digests in its content security policy (CSP level 3), so that
nothing else runs there. Foreign names are text everywhere: escaped in HTML and SVG, in the data as JSON without a "<",
and put in place by textContent.

Pictures are lettered in a font of fixed width, so that a width is a count, known before any browser has seen a label.
What a font may draw wider than its cell (anything but ASCII) is told its width in the SVG itself.
"""

import json
from base64 import b64encode
from collections.abc import Iterable, Sequence
from hashlib import sha256
from html import escape

from netdiag.patterns import regex
from netdiag.render.screen import Line, Screen, Style, width


def security_policy(style: str, script: str) -> str:
    """The policy of a page that has this style and this script, and fetches nothing."""
    styles, scripts = (f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in (style, script))
    return f"default-src 'none'; style-src {styles}; script-src {scripts}; base-uri 'none'; form-action 'none'"


def script_json(data: object) -> str:
    """JSON that can stand in a script element: nothing in it ends the element or begins a comment."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


SIZE, SMALL = 12.0, 10.5
# A cell in units of the font size: 0.602 in DejaVu, Liberation and Menlo, 0.55 in Consolas.
CELL = 0.605
ELLIPSIS = "…"
_SCREEN = Screen()
_DIGITS = regex(r"(\d+)")
# Names are looked at whole in the panel; nobody reads more than this of one.
_LONGEST = 2000


def visible(text: str) -> str:
    """Foreign text without a character that could hide, reorder, or be forbidden in XML; very long text cut."""
    if len(text) > _LONGEST:
        text = text[:_LONGEST] + ELLIPSIS
    return "".join(
        c if c < "\ufdd0" or not _is_noncharacter(ord(c)) else f"\\u{ord(c):04x}" for c in _SCREEN.visible(text)
    )


def text_width(text: str, size: float = SIZE) -> float:
    """How wide harmless text is drawn, in pixels."""
    return width(text) * CELL * size


def shortened(text: str, room: float, size: float = SIZE) -> str:
    """The text as it fits into so many pixels; what is left out is its middle, where names of a kind differ least."""
    text = visible(text)
    cells = int(room / (CELL * size) + 1e-6)
    if width(text) <= cells:
        return text
    if cells < 2:
        return ELLIPSIS if cells else ""
    tail = _cut(text[::-1], (cells - 1) // 3)[::-1]
    return _cut(text, cells - 1 - width(tail)) + ELLIPSIS + tail


def natural_key(text: str) -> tuple[tuple[int, int, str], ...]:
    """A key that puts broker-2 before broker-10; equal texts only have equal keys."""
    parts = _DIGITS.split(text)
    return (*((0, int(p[:18]), p) if i % 2 else (1, 0, p) for i, p in enumerate(parts)), (2, 0, text))


def _cut(text: str, cells: int) -> str:
    taken: list[str] = []
    for character in text:
        cells -= width(character)
        if cells < 0:
            break
        taken.append(character)
    return "".join(taken)


def _is_noncharacter(code: int) -> bool:
    """What Unicode calls a noncharacter: XML 1.0 has no U+FFFE and U+FFFF."""
    return 0xFDD0 <= code <= 0xFDEF or code & 0xFFFE == 0xFFFE


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
