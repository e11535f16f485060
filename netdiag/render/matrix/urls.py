"""The URLs of services beside the brokers, as text and as values of JSON: who uses each, and what it gets there."""

from collections.abc import Iterator, Sequence
from typing import Any

from netdiag.deployment.model.verdict import Answered, Contact, Failed, Word
from netdiag.deployment.neighbours import UrlCell, url_outcome
from netdiag.render.redact import redacted
from netdiag.render.report import UrlRow
from netdiag.render.screen import Line, Run, Screen, Style, hanging

_INDENT = "  "
_MOST_SHOWN = 40


def url_lines(rows: Sequence[UrlRow], screen: Screen, *, named: bool = False) -> Iterator[list[Line]]:
    """A block for each input, which its title names if `named`; what fails stands first."""
    for name in dict.fromkeys(row.input for row in rows):
        cells = [row.cell for row in rows if row.input == name]
        title = "URLs of services beside the brokers" + (f": {name}" if named else "")
        source = "observed" if any(cell.observed is not None for cell in cells) else "predicted"
        lines: list[Line] = [(screen.run(title, Style.BOLD), Run(f"  ({source})", Style.DIM))]
        for cell in sorted(cells, key=_order)[:_MOST_SHOWN]:
            lines += _cell_lines(cell, screen)
        if len(cells) > _MOST_SHOWN:
            lines.append((Run(f"{_INDENT}{len(cells) - _MOST_SHOWN} more; --format json has all", Style.DIM),))
        yield lines


def url_value(row: UrlRow) -> dict[str, Any]:
    """One URL as JSON."""
    cell = row.cell
    return {
        "input": row.input,
        "source": cell.source,
        "url": cell.url,
        "setting": cell.setting or None,
        "target": cell.target or None,
        "predicted": _contact_value(cell, cell.predicted),
        "observed": _contact_value(cell, cell.observed),
        "agrees": cell.agrees,
    }


def _order(cell: UrlCell) -> int:
    """What fails first, what nobody can tell next."""
    word = url_outcome(cell, cell.observed or cell.predicted)
    return 2 if word == Word.OK.value else 1 if word == Word.UNKNOWN.value else 0


def _cell_lines(cell: UrlCell, screen: Screen) -> Iterator[Line]:
    contact = cell.observed or cell.predicted
    word = url_outcome(cell, contact)
    style = {Word.OK.value: Style.GOOD, Word.UNKNOWN.value: Style.HALF}.get(word, Style.BAD)
    told = cell.setting or f"advertised by {cell.target}"
    text = redacted(f"{cell.source} {screen.glyphs.arrow} {cell.url} ({told})")
    differs = f"; predicted: {url_outcome(cell, cell.predicted)}" if cell.agrees is False else ""
    works = word == Word.OK.value
    yield (Run(_INDENT), screen.run(text), Run("  "), Run(word, style), Run(differs if works else ""))
    if not works:
        yield from hanging((Run(_INDENT * 2),), redacted(contact.because + differs), screen, Style.DIM)


def _contact_value(cell: UrlCell, contact: Contact | None) -> dict[str, Any] | None:
    if contact is None:
        return None
    return {
        "outcome": url_outcome(cell, contact),
        "answered_by": (contact.member or None) if isinstance(contact, Answered) else None,
        "because": redacted(contact.because) or None,
        "mechanism": contact.mechanism.value if isinstance(contact, Failed) and contact.mechanism else None,
    }
