"""The matrix as text: a sentence per vantage, a folded table with a word per cell, a footnote per failing word."""

from collections.abc import Sequence
from dataclasses import dataclass

from netdiag.deployment.vantage import DOCKER_HOST
from netdiag.deployment.verdict import Cell, Verdict, Word
from netdiag.render.footnotes import Footnotes
from netdiag.render.grid import Column, Grid, Part, Row, fold
from netdiag.render.report import Matrix
from netdiag.render.screen import Line, Run, Screen, Style, line_width, width, wrap
from netdiag.render.verdict_text import effective, style, word
from netdiag.render.wording import address_with_n, addresses_text, gathered_text, n_of, names_text, numbers_text, with_n

_GAP = "  "
_INDENT = "  "
# A column that stands for more vantages than this names the first ones only.
_NAMES_SHOWN = 4
# More rows than this are gathered by host and port in a sentence.
_LABELS_SHOWN = 4


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
        *_apart([*_legend(grid, screen), *footnotes.lines()]),
    ]


def _apart(lines: list[Line]) -> list[Line]:
    return [(), *lines] if lines else []


def _labels(grid: Grid) -> _Labels:
    """With N for the number of a broker where one numbering fits, else with the numbers written out."""
    numbers = _numbering(grid)
    rows = [
        address_with_n(row.addresses, numbers) if len(row.addresses) == len(numbers) > 1 else None for row in grid.rows
    ]
    fits = all(_is_own(row, numbers) and name is not None for row, name in zip(grid.rows, rows, strict=True) if row.own)
    if not fits or not any(rows):
        numbers, rows = (), [None] * len(rows)
    return _Labels(
        rows=tuple(name or addresses_text(row.addresses) for row, name in zip(grid.rows, rows, strict=True)),
        columns=tuple(_column_label(column, numbers) for column in grid.columns),
        numbers=numbers,
    )


def _numbering(grid: Grid) -> tuple[int, ...]:
    """What N could stand for: the numbers of brokers that share a column, or of hosts that share a row."""
    names = [[v.label for v in column.vantages] for column in grid.columns if len(column.vantages) > 1]
    names += [[a.host for a in row.addresses] for row in grid.rows if len({a.host for a in row.addresses}) > 1]
    for group in names:
        numbers = [n for n in map(n_of, group) if n is not None]
        if with_n(group, numbers) is not None:
            return tuple(numbers)
    return ()


def _is_own(row: Row, numbers: Sequence[int]) -> bool:
    """Whether the N of every address is that of the broker inside which it behaves in its own way."""
    return [n_of(label) for label in row.own] == list(numbers)


def _column_label(column: Column, numbers: Sequence[int]) -> str:
    labels = [vantage.label for vantage in column.vantages]
    match column.part:
        case Part.DIAGONAL:
            return with_n(labels, numbers) or "inside that broker" if numbers else "inside that broker"
        case Part.BESIDE:
            return "inside the others"
        case Part.ALL:
            return _few(labels)


def _few(labels: Sequence[str]) -> str:
    """All of them where that is short, else the first ones and how many more there are."""
    text = names_text(labels)
    if text.count(", ") < _NAMES_SHOWN:
        return text
    return f"{', '.join(labels[: _NAMES_SHOWN - 1])} and {len(labels) - _NAMES_SHOWN + 1} more"


def _title(matrix: Matrix, labels: _Labels, screen: Screen, *, named: bool) -> Line:
    how = [
        name
        for name, is_there in (
            ("predicted", any(cell.predicted for cell in matrix.cells)),
            ("observed", any(cell.observed for cell in matrix.cells)),
        )
        if is_there
    ]
    details = [" and ".join(how)] + ([f"N = {numbers_text(labels.numbers)}"] if labels.numbers else [])
    title = "From where a client works" + (f": {matrix.input}" if named else "")
    return (screen.run(title, Style.BOLD), Run(f"  ({'; '.join(details)})", Style.DIM))


def _sentences(grid: Grid, labels: _Labels, screen: Screen) -> list[Line]:
    said: list[tuple[str, str, Style]] = []
    for index, column in enumerate(grid.columns):
        verdicts = [effective(cells[index]) for cells in grid.cells]
        text, colour = _sentence(verdicts, grid.rows, labels)
        name = labels.columns[index]
        if column.part is Part.BESIDE and said[-1][1:] == (text, colour):
            # Nothing differs between a broker's own addresses and the others': say it once for all.
            said.pop()
            name = names_text([vantage.label for vantage in column.vantages])
        said.append((name, text, colour))
    names = [screen.visible(name) for name, _, _ in said]
    longest = max((width(name) for name in names), default=0)
    lines: list[Line] = []
    for name, (_, text, colour) in zip(names, said, strict=True):
        head = f"{_INDENT}{name}{' ' * (longest - width(name))}  "
        first, *rest = wrap(screen.visible(text), max(30, screen.width - width(head)))
        lines.append((Run(head), Run(first, colour)))
        lines += [(Run(" " * width(head)), Run(part, colour)) for part in rest]
    return lines


def _sentence(verdicts: Sequence[Verdict | None], rows: Sequence[Row], labels: _Labels) -> tuple[str, Style]:
    works = [n for n, verdict in enumerate(verdicts) if verdict is not None and verdict.usable]
    if works:
        return f"works through {_through(works, rows, labels)}", Style.GOOD
    partly = [n for n, verdict in enumerate(verdicts) if verdict is not None and verdict.reached]
    if partly:
        return f"works in part only, through {_through(partly, rows, labels)}", Style.HALF
    if any(verdict is None or verdict.word is Word.UNKNOWN for verdict in verdicts):
        return "no address is known to work", Style.DIM
    return "no address works", Style.BAD


def _through(chosen: Sequence[int], rows: Sequence[Row], labels: _Labels) -> str:
    """The rows by their labels, or, where they are many, all their addresses gathered anew."""
    if labels.numbers or len(chosen) <= _LABELS_SHOWN:
        return ", ".join(labels.rows[n] for n in chosen)
    return gathered_text([address for n in chosen for address in rows[n].addresses])


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
        # A little closer together is better than in two tables.
        room = self._screen.width - len(_INDENT) - self._row_width() - sum(self._widths)
        self._gap = _GAP if room >= len(_GAP) * len(self._widths) or room < len(self._widths) else " "

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
            needed = columns + len(self._gap)
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
                runs.append(Run(self._gap + text + " " * (self._widths[index] - width(text)), Style.BOLD))
            lines.append(tuple(runs))
        total = label + sum(self._widths[index] + len(self._gap) for index in columns)
        lines.append((Run(_INDENT + self._screen.glyphs.rule * total, Style.DIM),))
        lines += [self._row(name, row, columns) for name, row in zip(self._rows, self._cells, strict=True)]
        return lines

    def _row(self, name: str, row: Sequence[Line], columns: Sequence[int]) -> Line:
        runs = [Run(_INDENT + name + " " * (self._row_width() - width(name)))]
        for index in columns:
            runs += [Run(self._gap), *row[index], Run(" " * (self._widths[index] - line_width(row[index])))]
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


def _legend(grid: Grid, screen: Screen) -> list[Line]:
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
    room = screen.width - len(_INDENT)
    return [(Run(_INDENT + part, Style.DIM),) for line in lines for part in wrap(line, room)]


def _second_hop_failed(verdict: Verdict) -> bool:
    return verdict.advertised is not None and style(verdict) is Style.BAD
