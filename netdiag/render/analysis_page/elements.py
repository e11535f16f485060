"""Pieces of HTML: tables, names, numbers. Foreign text is made harmless and escaped here."""

from collections.abc import Iterator, Sequence
from html import escape

from netdiag.render.analysis_page.figure import Table
from netdiag.render.analysis_page.wording import plain
from netdiag.render.topology.lettering import visible


def text(foreign: str) -> str:
    """Foreign text, whole, for an element or a quoted attribute."""
    return escape(visible(foreign))


def name(foreign: str | None) -> str:
    """A foreign name: short, with all of it where the pointer rests if that says more."""
    if foreign is None:
        return '<span class="none">-</span>'
    short, whole = plain(foreign), visible(foreign)
    told = f' title="{escape(whole)}"' if short != whole else ""
    return f"<bdi{told}>{escape(short)}</bdi>"


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


def _cells(row: Sequence[str], numbers: Sequence[bool]) -> str:
    first, *others = row
    cells = "".join(
        f"<td{_class(number)}>{name(cell) if not number else text(cell)}</td>"
        for cell, number in zip(others, numbers[1:], strict=True)
    )
    return f'<th scope="row">{name(first)}</th>{cells}'


def _class(is_number: bool) -> str:
    return ' class="number"' if is_number else ""
