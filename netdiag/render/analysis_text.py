"""An analysis as text: findings first, then what was looked at and how much of it was understood, then tables."""

from collections.abc import Sequence

from netdiag.render.analysis_sections import SECTIONS, Column, Section, duration, every, moment, size
from netdiag.render.finding_text import SourceLines, finding_lines
from netdiag.render.screen import Line, Run, Screen, Style, paint, width
from netdiag.traffic.analysis import Analysis, Answer

TOP = 10
# A cell that is longer is cut; the JSON document has it whole.
_WIDEST = 44


def analysis_text(analysis: Analysis, screen: Screen, *, top: int = TOP) -> str:
    """The text; of each table the first `top` rows, with a line that tells how many there are beside them."""
    lines: list[Line] = []
    for finding in analysis.findings:
        lines += [*finding_lines(finding, SourceLines({}), screen), ()]
    lines += _head(analysis, screen)
    for section in SECTIONS:
        lines += _table(section, analysis, screen, top)
    return paint(lines, screen)


def _head(analysis: Analysis, screen: Screen) -> list[Line]:
    seen = analysis.seen
    files = f"{len(seen.files)} captures" if len(seen.files) != 1 else seen.files[0]
    spoken = ", ".join(f"{count} {name}" for name, count in sorted(analysis.protocols.items(), key=_most))
    rows = (
        ("looked at", f"{files}, {size(seen.bytes)}, {seen.packets:,} packets"),
        ("span", _span(seen.first, seen.last)),
        ("connections", f"{analysis.connections:,}" + (f" ({spoken})" if spoken else "")),
        ("exchanges", _decoded(analysis)),
        ("not decoded", _lost(analysis.answers.get("loss_kinds", Answer()))),
    )
    return [(Run(f"{name:<12}", Style.BOLD), screen.run(text)) for name, text in rows if text]


def _most(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


def _span(first: int | None, last: int | None) -> str:
    if first is None or last is None:
        return ""
    return f"{moment(first)} to {moment(last)} UTC, {duration((last - first) / 1e6)}"


def _decoded(analysis: Analysis) -> str:
    kinds: dict[str, int] = {}
    for row in analysis.rows("coverage"):
        kinds[row["decoded"]] = kinds.get(row["decoded"], 0) + int(row["exchanges"])
    total = sum(kinds.values())
    if not total:
        return "none"
    rest = ", ".join(f"{count:,} {name}" for name, count in sorted(kinds.items(), key=_most) if name != "full")
    return f"{total:,}, {100 * kinds.get('full', 0) / total:.1f} % decoded in full" + (f" ({rest})" if rest else "")


def _lost(losses: Answer) -> str:
    if not losses.rows:
        return "nothing"
    return ", ".join(f"{row['kind']} {size(row['bytes'])} ({row['times']:,} times)" for row in losses.rows)


def _table(section: Section, analysis: Analysis, screen: Screen, top: int) -> list[Line]:
    answer = analysis.answers.get(section.answer, Answer())
    kept = [row for row in answer.rows if section.keep(row)]
    if not kept:
        return []
    shown = kept[:top]
    cells = [[_cut(screen.visible(column.value(row)), screen) for column in section.columns] for row in shown]
    widths = [
        max(width(column.heading), *(width(row[place]) for row in cells))
        for place, column in enumerate(section.columns)
    ]
    headings = [column.heading for column in section.columns]
    lines: list[Line] = [(), (Run(section.title, Style.BOLD),)]
    lines.append((Run("  " + _joined(headings, widths, section.columns), Style.DIM),))
    lines += [(Run("  " + _joined(row, widths, section.columns)),) for row in cells]
    more = _more(len(kept) - len(shown), answer.total - len(answer.rows), is_chosen=section.keep is not every)
    if more:
        lines.append((Run(f"  {screen.glyphs.ellipsis} and {more}", Style.DIM),))
    return lines


def _more(left_out: int, cut: int, *, is_chosen: bool) -> str:
    """How many rows are not shown: so many are left out here, others were cut from the answer.

    Where a condition chooses rows, nobody knows how many of those that were cut it would have kept.
    """
    if not is_chosen:
        return f"{left_out + cut:,} more" if left_out + cut > 0 else ""
    if cut > 0:
        return f"at least {left_out:,} more" if left_out else "perhaps others with less"
    return f"{left_out:,} more" if left_out else ""


def _joined(cells: Sequence[str], widths: Sequence[int], columns: Sequence[Column]) -> str:
    parts = []
    for cell, columns_wide, column in zip(cells, widths, columns, strict=True):
        blank = " " * (columns_wide - width(cell))
        parts.append(blank + cell if column.is_number else cell + blank)
    return "  ".join(parts)


def _cut(text: str, screen: Screen) -> str:
    if width(text) <= _WIDEST:
        return text
    return text[: _WIDEST - len(screen.glyphs.ellipsis)] + screen.glyphs.ellipsis
