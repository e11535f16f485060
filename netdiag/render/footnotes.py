"""The footnotes of a matrix: one for each different explanation, numbered in order of appearance.

Explanations that differ in numbers only (of brokers, of ports) count as one.
"""

import re

from netdiag.deployment.verdict import Cell
from netdiag.render.redact import redacted
from netdiag.render.screen import UNICODE, Line, Run, Screen, Style, width, wrap
from netdiag.render.verdict_text import effective, explanation, word

_DIGITS = re.compile(r"\d+")
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class Footnotes:
    """Collects them while a table is drawn."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._numbers: dict[tuple[str, str], int] = {}
        self._texts: dict[int, str] = {}

    def mark(self, cell: Cell) -> Run:
        """The mark beside a cell's word; empty where there is nothing to explain."""
        verdict = effective(cell)
        if verdict is None or (verdict.usable and cell.agrees is not False):
            return Run("")
        text = self._text(cell)
        key = (word(verdict, self._screen.glyphs), _DIGITS.sub("#", text))
        number = self._numbers.setdefault(key, len(self._numbers) + 1)
        self._texts.setdefault(number, f"{cell.vantage} {self._screen.glyphs.arrow} {cell.bootstrap}: {text}")
        return Run(self._number(number), Style.DIM)

    def lines(self) -> list[Line]:
        """The footnotes, each with the place it was first needed for."""
        lines: list[Line] = []
        for number, text in self._texts.items():
            mark = self._number(number)
            indent = " " * (3 + width(mark))
            parts = wrap(self._screen.visible(redacted(text)), max(30, self._screen.width - len(indent)))
            lines.append((Run(f"  {mark} ", Style.DIM), Run(parts[0])))
            lines += [(Run(indent + part),) for part in parts[1:]]
        return lines

    def _text(self, cell: Cell) -> str:
        if cell.agrees is False and cell.predicted and cell.observed:
            return f"predicted: {explanation(cell.predicted)}; observed: {explanation(cell.observed)}"
        verdict = effective(cell)
        return explanation(verdict) if verdict else ""

    def _number(self, number: int) -> str:
        if self._screen.glyphs is UNICODE:
            return str(number).translate(_SUPERSCRIPTS)
        return f"[{number}]"
