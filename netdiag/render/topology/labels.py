"""Labels of a picture: harmless, short enough for their place, and how wide they are before any browser has seen them.

Pictures are lettered in a font of fixed width, so that a width is a count. What a font may draw wider than its cell
(anything but ASCII) is told its width in the SVG itself.
"""

from netdiag.patterns import regex
from netdiag.render.screen import Screen, width

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
