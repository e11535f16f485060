"""The matrix as text: a sentence per vantage, a folded table with a word per cell, a footnote per failing word."""

from collections.abc import Sequence
from dataclasses import dataclass

from netdiag.deployment.vantage import DOCKER_HOST
from netdiag.deployment.verdict import Cell, Verdict
from netdiag.render.footnotes import Footnotes
from netdiag.render.grid import Column, Grid, Part, Row, fold
from netdiag.render.labels import address_with_n, addresses_text, n_of, names_text, numbers_text, with_n
from netdiag.render.report import Matrix
from netdiag.render.screen import Line, Run, Screen, Style, line_width, width, wrap
from netdiag.render.verdict_text import effective, style, word

_GAP = "  "
_INDENT = "  "


@dataclass(frozen=True, slots=True, kw_only=True)
class _Labels:
    """What the rows and columns of a grid are called; `numbers` is what N stands for, when N is used."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    numbers: tuple[int, ...] = ()


def matrix_lines(matrix: Matrix, screen: Screen, *, named: bool) -> list[Line]:
    """The lines of one matrix; `named` puts its input into the title."""
    grid = fold(matrix)
    labels = _labels(grid)
    footnotes = Footnotes(screen)
    table = _Table(grid, labels, footnotes, screen, observed=any(cell.observed for cell in matrix.cells))
    drawn = table.lines()
    return [
        _title(matrix, labels, screen, named=named),
        *_sentences(grid, labels, screen),
        *_not_running(matrix, screen),
        (),
        *drawn,
        *_legend(grid, table, screen),
        *footnotes.lines(),
    ]


def _labels(grid: Grid) -> _Labels:
    """With N where one numbering fits every folded row and column, else with the numbers written out."""
    return _labels_with_n(grid) or _Labels(
        rows=tuple(addresses_text(row.addresses) for row in grid.rows),
        columns=tuple(_column_label(column) for column in grid.columns),
    )


def _labels_with_n(grid: Grid) -> _Labels | None:
    folded = [column for column in grid.columns if len(column.vantages) > 1 and column.part is not Part.ALL]
    if not folded:
        return None
    numbers = [n_of(vantage.label) for vantage in folded[0].vantages]
    known = [n for n in numbers if n is not None]
    if len(known) != len(numbers) or any(column.vantages != folded[0].vantages for column in folded):
        return None
    rows = [_row_with_n(row, known) for row in grid.rows]
    columns = [_column_with_n(column, known) for column in grid.columns]
    if any(row is None for row in rows) or any(column is None for column in columns):
        return None
    return _Labels(
        rows=tuple(r for r in rows if r is not None),
        columns=tuple(c for c in columns if c is not None),
        numbers=tuple(known),
    )


def _row_with_n(row: Row, numbers: Sequence[int]) -> str | None:
    if len(row.addresses) == 1:
        return str(row.addresses[0])
    if row.own:
        own = [n_of(label) for label in row.own]
        return address_with_n(row.addresses, [n for n in own if n is not None]) if None not in own else None
    return address_with_n(row.addresses, numbers) if len(row.addresses) == len(numbers) else None


def _column_with_n(column: Column, numbers: Sequence[int]) -> str | None:
    if column.part is Part.BESIDE:
        return "inside the others"
    if len(column.vantages) == 1:
        return column.vantages[0].label
    if len(column.vantages) != len(numbers):
        return _column_label(column)
    return with_n([vantage.label for vantage in column.vantages], numbers)


def _column_label(column: Column) -> str:
    match column.part:
        case Part.DIAGONAL:
            return "inside that broker"
        case Part.BESIDE:
            return "inside the others"
        case Part.ALL:
            return names_text([vantage.label for vantage in column.vantages])


def _title(matrix: Matrix, labels: _Labels, screen: Screen, *, named: bool) -> Line:
    details = [f"N = {numbers_text(labels.numbers)}"] if labels.numbers else []
    of = f" of {matrix.input}" if named else ""
    runs = [Run("From where a client works"), screen.run(of)]
    line: Line = tuple(Run(run.text, Style.BOLD) for run in runs)
    return (*line, Run(f"  ({', '.join(details)})", Style.DIM)) if details else line


def _sentences(grid: Grid, labels: _Labels, screen: Screen) -> list[Line]:
    names = [screen.visible(label) for label in labels.columns]
    longest = max((width(name) for name in names), default=0)
    lines: list[Line] = []
    for index, name in enumerate(names):
        verdicts = [(label, effective(cells[index])) for label, cells in zip(labels.rows, grid.cells, strict=True)]
        works = [label for label, verdict in verdicts if verdict is not None and verdict.usable]
        unknown = any(verdict is None or style(verdict) is Style.DIM for _, verdict in verdicts)
        text, colour = _sentence(works, unknown)
        head = f"{_INDENT}{name}{' ' * (longest - width(name))}  "
        first, *rest = wrap(screen.visible(text), max(30, screen.width - width(head)))
        lines.append((Run(head), Run(first, colour)))
        lines += [(Run(" " * width(head)), Run(part, colour)) for part in rest]
    return lines


def _sentence(works: Sequence[str], unknown: bool) -> tuple[str, Style]:
    if works:
        return f"works through {', '.join(works)}", Style.GOOD
    if unknown:
        return "cannot be told", Style.DIM
    return "no address works", Style.BAD


def _not_running(matrix: Matrix, screen: Screen) -> list[Line]:
    by_reason: dict[str, list[str]] = {}
    for broker, reason in matrix.not_running.items():
        by_reason.setdefault(reason, []).append(broker)
    return [
        (
            Run(f"{_INDENT}not running: ", Style.ERROR),
            screen.run(names_text(names) + (f" ({reason})" if reason else "")),
        )
        for reason, names in by_reason.items()
    ]


class _Table:
    """Draws a grid, cut into several tables one below the other where the screen is too narrow for one."""

    def __init__(self, grid: Grid, labels: _Labels, footnotes: Footnotes, screen: Screen, *, observed: bool) -> None:
        self._screen = screen
        self._observed = observed
        self._rows = [_shortened(screen.visible(label), screen) for label in labels.rows]
        self._heads = [screen.visible(label) for label in labels.columns]
        self._cells = [[self._cell(cell, footnotes) for cell in cells] for cells in grid.cells]
        self._widths = [
            max(_head_width(head), *(line_width(row[index]) for row in self._cells))
            for index, head in enumerate(self._heads)
        ]

    def lines(self) -> list[Line]:
        lines: list[Line] = []
        for part in self._parts():
            lines += [(), *self._part(part)] if lines else self._part(part)
        return lines

    def _cell(self, cell: Cell, footnotes: Footnotes) -> Line:
        predicted, observed = cell.predicted, cell.observed
        glyphs = self._screen.glyphs
        mark = footnotes.mark(cell)
        if cell.agrees is False and predicted and observed:
            return (
                Run(word(predicted, glyphs), Style.DIM),
                Run(glyphs.differs, Style.ERROR),
                Run(word(observed, glyphs), Style.ERROR),
                mark,
            )
        verdict = effective(cell)
        if verdict is None:
            return (Run("-", Style.DIM),)
        text = word(verdict, glyphs)
        if self._observed and verdict is not observed:
            text = f"({text})"
        return (Run(text, style(verdict)), mark)

    def _parts(self) -> list[list[int]]:
        """The columns of each table."""
        room = self._screen.width - len(_INDENT) - self._row_width()
        parts: list[list[int]] = [[]]
        used = 0
        for index, columns in enumerate(self._widths):
            needed = columns + len(_GAP)
            if parts[-1] and used + needed > room:
                parts.append([])
                used = 0
            parts[-1].append(index)
            used += needed
        return parts

    def _row_width(self) -> int:
        return max((width(label) for label in self._rows), default=0)

    def _part(self, columns: Sequence[int]) -> list[Line]:
        heads = [wrap(self._heads[index], self._widths[index]) for index in columns]
        height = max(len(head) for head in heads)
        label = self._row_width()
        lines: list[Line] = []
        for level in range(height):
            runs = [Run(_INDENT + " " * label)]
            for index, head in zip(columns, heads, strict=True):
                text = ([""] * (height - len(head)) + head)[level]
                runs.append(Run(_GAP + text + " " * (self._widths[index] - width(text)), Style.BOLD))
            lines.append(tuple(runs))
        total = label + sum(self._widths[index] + len(_GAP) for index in columns)
        lines.append((Run(_INDENT + self._screen.glyphs.rule * total, Style.DIM),))
        lines += [self._row(name, row, columns) for name, row in zip(self._rows, self._cells, strict=True)]
        return lines

    def _row(self, name: str, row: Sequence[Line], columns: Sequence[int]) -> Line:
        runs = [Run(_INDENT + name + " " * (self._row_width() - width(name)))]
        for index in columns:
            runs += [Run(_GAP), *row[index], Run(" " * (self._widths[index] - line_width(row[index])))]
        return tuple(runs)


def _head_width(head: str) -> int:
    return max(width(part) for part in head.split(" "))


def _shortened(label: str, screen: Screen) -> str:
    """A row label of at most 40 % of the screen, its middle left out."""
    room = screen.width * 2 // 5
    if width(label) <= room:
        return label
    half = (room - width(screen.glyphs.ellipsis)) // 2
    head = tail = ""
    for character in label:
        if width(head + character) > half:
            break
        head += character
    for character in reversed(label):
        if width(character + tail) > half:
            break
        tail = character + tail
    return f"{head}{screen.glyphs.ellipsis}{tail}"


def _legend(grid: Grid, table: _Table, screen: Screen) -> list[Line]:
    del table
    verdicts = [v for cells in grid.cells for cell in cells for v in (cell.predicted, cell.observed) if v]
    arrow = screen.glyphs.arrow
    lines: list[str] = []
    if any(_second_hop_failed(verdict) for verdict in verdicts):
        lines.append(f"{arrow}  a broker answers there, but the addresses it then sends the client to fail")
    if any(cell.agrees is False for cells in grid.cells for cell in cells):
        lines.append(f"a{screen.glyphs.differs}b  predicted a, observed b")
    if any(cell.observed for cells in grid.cells for cell in cells) and any(
        effective(cell) is not cell.observed for cells in grid.cells for cell in cells
    ):
        lines.append("( )  predicted, not observed")
    if any(address.host == DOCKER_HOST for row in grid.rows for address in row.addresses):
        lines.append(f"{DOCKER_HOST}  an address of the docker host on its network; name it with --docker-host-ip")
    return [(Run(_INDENT + line, Style.DIM),) for line in lines]


def _second_hop_failed(verdict: Verdict) -> bool:
    return verdict.advertised is not None and style(verdict) is Style.BAD
