"""The matrix as text: a sentence per vantage, a folded table with a word per cell, a footnote per failing word.

Bootstrap addresses and vantages that behave alike become one row and one column. Alike is not equal: `localhost:9092`
works inside broker-2 and not inside broker-1, `localhost:9091` the other way round. So rows and columns are sorted into
classes by refinement (two rows are alike when they meet the same verdicts in alike columns, two columns likewise, until
nothing changes). What remains is a block of rows x columns that holds one verdict everywhere, or one on its diagonal
and another beside it. The latter is drawn as two columns, "inside that broker" and "inside the others". A block of any
other shape is taken apart.
"""

import ipaddress
from collections import Counter
from collections.abc import Sequence
from enum import Enum
from typing import TypeVar, assert_never

from netdiag.deployment.model.vantage import DOCKER_HOST, Vantage, VantageKind
from netdiag.deployment.model.verdict import (
    Address,
    Ambiguous,
    Answered,
    Cell,
    EndpointOutcome,
    Failed,
    Unknown,
    Verdict,
    Word,
)
from netdiag.patterns import regex
from netdiag.render.redact import redacted
from netdiag.render.report import Matrix
from netdiag.render.screen import UNICODE, Glyphs, Line, Run, Screen, Style, hanging, line_width, width, wrap
from netdiag.render.wording import (
    address_with_n,
    addresses_text,
    few_names,
    gathered_text,
    n_of,
    names_text,
    numbers_text,
    with_n,
)
from netdiag.values import dataclass

# Vantages of one group may share a column; the docker host always has its own.
_GROUPS = {
    VantageKind.BROKER: "brokers",
    VantageKind.CONTAINER: "clients",
    VantageKind.OTHER_NETWORK: "outside",
    VantageKind.LAN: "outside",
    VantageKind.POD: "pods",
}

_T = TypeVar("_T")


class Part(Enum):
    """Which cells of a folded block a column shows."""

    ALL = "all"
    DIAGONAL = "diagonal"
    BESIDE = "beside"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """Vantages that behave alike; a block with a diagonal has two columns, one for each of its parts."""

    vantages: tuple[Vantage, ...]
    part: Part = Part.ALL


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Addresses that behave alike, and for each the one vantage that differs from its neighbours, if any."""

    addresses: tuple[Address, ...]
    own: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A folded matrix; `cells[row][column]` is a representative of its block."""

    rows: tuple[Row, ...]
    columns: tuple[Column, ...]
    cells: tuple[tuple[Cell, ...], ...]


def fold_matrix(matrix: Matrix) -> Grid:
    """The grid of a matrix, rows and columns in order of first appearance."""
    return _Folding(matrix).grid()


class _Folding:
    """One matrix while it is folded."""

    def __init__(self, matrix: Matrix) -> None:
        self._cells = {(cell.bootstrap, cell.vantage): cell for cell in matrix.cells}
        self._values = {key: f"{cell.predicted}|{cell.observed}" for key, cell in self._cells.items()}
        seen = {cell.vantage for cell in matrix.cells}
        self._vantages = [vantage for vantage in matrix.vantages if vantage.label in seen]
        addresses = dict.fromkeys(cell.bootstrap for cell in matrix.cells)
        self._addresses = [a for a in addresses if all((a, v.label) in self._cells for v in self._vantages)]

    def grid(self) -> Grid:
        row_groups, column_groups = self._classes()
        rows = [Row(addresses=tuple(group), own=self._own(group, column_groups)) for group in row_groups]
        columns = [column for group in column_groups for column in _columns(group, rows)]
        return Grid(
            rows=tuple(rows),
            columns=tuple(columns),
            cells=tuple(tuple(self._representative(row, column) for column in columns) for row in rows),
        )

    def _classes(self) -> tuple[list[list[Address]], list[list[Vantage]]]:
        rows = _numbered(_kinds_of_addresses(self._addresses))
        columns = _numbered([_GROUPS.get(v.kind, v.label) for v in self._vantages])
        while True:
            rows, columns = self._refined(rows, columns)
            row_groups = _grouped(self._addresses, rows)
            column_groups = _grouped(self._vantages, columns)
            odd = next((group for group in row_groups if not self._is_foldable(group, column_groups)), None)
            if odd is None:
                return row_groups, column_groups
            parts = self._parted(odd, column_groups)
            fresh = len(rows)
            rows = [fresh + parts[a] if a in parts else c for a, c in zip(self._addresses, rows, strict=True)]

    def _parted(self, rows: Sequence[Address], column_groups: Sequence[Sequence[Vantage]]) -> dict[Address, int]:
        """A group that cannot be folded as groups that can: one row per broker in each, else one row each."""
        for columns in column_groups:
            own = [self._rare(address, columns) for address in rows]
            several = len(rows) > len(columns) > 2 and len(rows) % len(columns) == 0
            if several and None not in own and set(Counter(own).values()) == {len(rows) // len(columns)}:
                return {address: own[:index].count(own[index]) for index, address in enumerate(rows)}
        return {address: index for index, address in enumerate(rows)}

    def _refined(self, rows: list[int], columns: list[int]) -> tuple[list[int], list[int]]:
        while True:
            before = len(set(rows)), len(set(columns))
            rows = _numbered(
                [
                    (c, _counted([(k, self._values[a, v.label]) for v, k in zip(self._vantages, columns, strict=True)]))
                    for a, c in zip(self._addresses, rows, strict=True)
                ]
            )
            columns = _numbered(
                [
                    (c, _counted([(k, self._values[a, v.label]) for a, k in zip(self._addresses, rows, strict=True)]))
                    for v, c in zip(self._vantages, columns, strict=True)
                ]
            )
            if before == (len(set(rows)), len(set(columns))):
                return rows, columns

    def _is_foldable(self, rows: Sequence[Address], column_groups: Sequence[Sequence[Vantage]]) -> bool:
        diagonals = [columns for columns in column_groups if not self._is_uniform(rows, columns)]
        return not diagonals or (len(diagonals) == 1 and bool(self._diagonal(rows, diagonals[0])))

    def _is_uniform(self, rows: Sequence[Address], columns: Sequence[Vantage]) -> bool:
        return len({self._values[a, v.label] for a in rows for v in columns}) == 1

    def _own(self, rows: Sequence[Address], column_groups: Sequence[Sequence[Vantage]]) -> tuple[str, ...]:
        for columns in column_groups:
            if not self._is_uniform(rows, columns):
                return self._diagonal(rows, columns)
        return ()

    def _diagonal(self, rows: Sequence[Address], columns: Sequence[Vantage]) -> tuple[str, ...]:
        """For each row the one column that differs from the others; nothing where the block is no such square.

        In a group all rows say the same equally often, and so do all columns: no two rows differ in the same column.
        """
        if len(rows) != len(columns):
            return ()
        if len(rows) == 2:
            # Two by two has two diagonals; the one that answers is the broker's own.
            left, right = (vantage.label for vantage in columns)
            straight = _answers(self._cells[rows[0], left]) >= _answers(self._cells[rows[0], right])
            return (left, right) if straight else (right, left)
        own = [label for label in (self._rare(address, columns) for address in rows) if label is not None]
        return tuple(own) if len(own) == len(rows) else ()

    def _rare(self, address: Address, columns: Sequence[Vantage]) -> str | None:
        """The one column in which a row differs from all its other columns."""
        counts = Counter(self._values[address, v.label] for v in columns)
        if sorted(counts.values()) != [1, len(columns) - 1]:
            return None
        rare = min(counts, key=lambda value: counts[value])
        return next(v.label for v in columns if self._values[address, v.label] == rare)

    def _representative(self, row: Row, column: Column) -> Cell:
        labels = [vantage.label for vantage in column.vantages]
        address = row.addresses[0]
        if column.part is Part.ALL or len(labels) == 1:
            return self._cells[address, labels[0]]
        own = row.own[0] if row.own and row.own[0] in labels else labels[0]
        if column.part is Part.DIAGONAL:
            return self._cells[address, own]
        return self._cells[address, next(label for label in labels if label != own)]


def _columns(group: Sequence[Vantage], rows: Sequence[Row]) -> list[Column]:
    labels = {vantage.label for vantage in group}
    parts = (Part.DIAGONAL, Part.BESIDE) if any(labels.intersection(row.own) for row in rows) else (Part.ALL,)
    return [Column(vantages=tuple(group), part=part) for part in parts]


def _answers(cell: Cell) -> bool:
    verdict = cell.observed or cell.predicted
    return verdict is not None and verdict.advertised is not None


def _kinds_of_addresses(addresses: Sequence[Address]) -> list[tuple[str, int, int]]:
    """Addresses of one kind may share a row: names that differ in numbers, on one port or on a port each.

    Where every such name has several ports of its own, the first ones are of a kind, the second ones, and so on.
    """
    patterns = [_host_pattern(address.host) for address in addresses]
    used = Counter((pattern, a.port) for pattern, a in zip(patterns, addresses, strict=True))
    hosts = {
        pattern: {a.host for p, a in zip(patterns, addresses, strict=True) if p == pattern} for pattern in patterns
    }
    ranks: Counter[str] = Counter()
    kinds: list[tuple[str, int, int]] = []
    for pattern, address in zip(patterns, addresses, strict=True):
        if used[pattern, address.port] > 1:
            kinds.append((pattern, address.port, 0))
            continue
        kinds.append((pattern, 0, ranks[address.host] if len(hosts[pattern]) > 1 else 0))
        ranks[address.host] += 1
    return kinds


def _host_pattern(host: str) -> str:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return _DIGITS.sub("#", host)
    return host


def _numbered(values: Sequence[object]) -> list[int]:
    numbers: dict[object, int] = {}
    return [numbers.setdefault(value, len(numbers)) for value in values]


def _counted(items: Sequence[object]) -> frozenset[tuple[object, int]]:
    return frozenset(Counter(items).items())


def _grouped(items: Sequence[_T], colours: Sequence[int]) -> list[list[_T]]:
    groups: dict[int, list[_T]] = {}
    for item, colour in zip(items, colours, strict=True):
        groups.setdefault(colour, []).append(item)
    return list(groups.values())


_SPELLED = {
    "unresolved": "unresolved",
    "refused": "refused",
    "timeout": "no answer",
    "unreachable": "unreachable",
    "closed": "closed without an answer",
    "not-kafka": "something other than Kafka answers",
    "tls": "the listener requires TLS",
    "sasl": "the listener requires SASL",
    "wrong-broker": "another broker answers",
    "unknown": "unknown",
}
# Reasons that say what the word says: a client that speaks more than the listener wants, or less.
_LISTENER_REQUIRES = "listener "
_SAYS_ALL = ("the client uses ", _LISTENER_REQUIRES)
# What a client may lack, and the word of a cell that says so.
_LACKING = {"TLS": Word.TLS, "SASL": Word.SASL}
_DIGITS = regex(r"\d+")
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_GAP = "  "
_INDENT = "  "
# More rows than this are gathered by host and port in a sentence.
_LABELS_SHOWN = 4


def matrix_lines(matrix: Matrix, screen: Screen, *, named: bool) -> list[Line]:
    """The lines of one matrix; `named` puts its input into the title.

    Where no broker runs, every cell would say the same: one line says it. Addresses whose owner is unknown follow.
    """
    if no_broker_runs(matrix):
        unknown = _unknown(matrix, screen)
        start = "no address is known to work" if unknown else "nowhere"
        nowhere = (Run(f"{_INDENT}{start}: no broker is running", Style.BAD),)
        return [_title(matrix, (), screen, named=named), nowhere, *_not_running(matrix, screen), *unknown]
    grid = fold_matrix(matrix)
    labels = _labels(grid)
    footnotes = Footnotes(screen)
    table = _Table(grid, labels, footnotes, screen, observed=any(cell.observed for cell in matrix.cells))
    drawn = table.lines()
    notes = [*_legend(grid, screen), *footnotes.lines()]
    return [
        _title(matrix, labels.numbers, screen, named=named),
        *_sentences(grid, labels, screen),
        *_not_running(matrix, screen),
        (),
        *drawn,
        *([(), *notes] if notes else []),
    ]


def no_broker_runs(matrix: Matrix) -> bool:
    """Whether brokers are stopped, none is running, and no address was answered or behaved against the prediction."""
    if not matrix.not_running or any(vantage.kind is VantageKind.BROKER for vantage in matrix.vantages):
        return False
    verdicts = [effective_verdict(cell) for cell in matrix.cells]
    return all(
        verdict is not None and not isinstance(verdict.bootstrap, Answered) and cell.agrees is not False
        for verdict, cell in zip(verdicts, matrix.cells, strict=True)
    )


def _unknown(matrix: Matrix, screen: Screen) -> list[Line]:
    """The addresses that are unknown from some vantage, by reason."""
    by_reason: dict[str, list[Address]] = {}
    for cell in matrix.cells:
        verdict = effective_verdict(cell)
        if verdict is not None and isinstance(verdict.bootstrap, Unknown):
            addresses = by_reason.setdefault(verdict.bootstrap.because, [])
            if cell.bootstrap not in addresses:
                addresses.append(cell.bootstrap)
    lines: list[Line] = []
    for because, addresses in by_reason.items():
        text = _with_reason(gathered_text(addresses), because)
        lines += hanging((Run(f"{_INDENT}unknown: ", Style.DIM),), redacted(text), screen)
    return lines


class Footnotes:
    """Collects them while a table is drawn; texts that differ only in numbers or the cell's own host share one."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._numbers: dict[tuple[str, str], int] = {}
        self._texts: dict[int, str] = {}

    def mark(self, cell: Cell) -> Run:
        """The mark beside a cell's word; empty where there is nothing to explain."""
        verdict = effective_verdict(cell)
        if verdict is None or (verdict.usable and cell.agrees is not False and not verdict.choices):
            return Run("")
        text = self._text(cell)
        word = verdict_word(verdict, self._screen.glyphs)
        keys = {(word, _DIGITS.sub("#", told)) for told in (text, text.replace(cell.bootstrap.host, "#"))}
        number = next((self._numbers[key] for key in keys if key in self._numbers), len(self._texts) + 1)
        self._numbers.update(dict.fromkeys(keys, number))
        self._texts.setdefault(number, f"{cell.vantage} {self._screen.glyphs.arrow} {cell.bootstrap}: {text}")
        return Run(self._number(number), Style.DIM)

    def lines(self) -> list[Line]:
        """The footnotes, each with the place it was first needed for."""
        lines: list[Line] = []
        for number, text in self._texts.items():
            lines += hanging((Run(f"  {self._number(number)} ", Style.DIM),), redacted(text), self._screen)
        return lines

    def _text(self, cell: Cell) -> str:
        if cell.agrees is False and cell.predicted and cell.observed:
            return f"predicted: {verdict_explanation(cell.predicted)}; observed: {verdict_explanation(cell.observed)}"
        verdict = effective_verdict(cell)
        if verdict is None:
            return ""
        names = "; ".join(choice.because for choice in verdict.choices)
        return names if verdict.usable else verdict_explanation(verdict)

    def _number(self, number: int) -> str:
        if self._screen.glyphs is UNICODE:
            return str(number).translate(_SUPERSCRIPTS)
        return f"[{number}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Labels:
    """What the rows and columns of a grid are called; `numbers` is what N stands for, when N is used."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    numbers: tuple[int, ...] = ()


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
            return few_names(_inside_once(column))


def _inside_once(column: Column) -> list[str]:
    """The labels of a column, where clients that stand inside several containers say so once."""
    labels: list[str] = []
    inside = False
    for vantage in column.vantages:
        is_client = vantage.kind is VantageKind.CONTAINER and vantage.member is not None
        labels.append(vantage.label.removeprefix("inside ") if is_client and inside else vantage.label)
        inside |= is_client
    return labels


def _title(matrix: Matrix, numbers: Sequence[int], screen: Screen, *, named: bool) -> Line:
    how = ["predicted"] if any(cell.predicted for cell in matrix.cells) else []
    how += ["observed"] if any(cell.observed for cell in matrix.cells) else []
    details = [" and ".join(how) + (f" {matrix.basis}" if matrix.basis else "")] + (
        [f"N = {numbers_text(numbers)}"] if numbers else []
    )
    title = "Where clients can connect" + (f": {matrix.input}" if named else "")
    return (screen.run(title, Style.BOLD), Run(f"  ({'; '.join(details)})", Style.DIM))


def _sentences(grid: Grid, labels: _Labels, screen: Screen) -> list[Line]:
    said: list[tuple[str, str, Style]] = []
    for index, column in enumerate(grid.columns):
        verdicts = [effective_verdict(cells[index]) for cells in grid.cells]
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
        head = Run(f"{_INDENT}{name}{' ' * (longest - width(name))}  ")
        lines += hanging((head,), text, screen, colour)
    return lines


def _sentence(verdicts: Sequence[Verdict | None], rows: Sequence[Row], labels: _Labels) -> tuple[str, Style]:
    works = [n for n, verdict in enumerate(verdicts) if verdict is not None and verdict.usable]
    if works:
        return f"works through {_through(works, rows, labels)}", Style.GOOD
    partly = [n for n, verdict in enumerate(verdicts) if verdict is not None and verdict.reached]
    if partly:
        return f"works only partly, through {_through(partly, rows, labels)}", Style.HALF
    either = [n for n, verdict in enumerate(verdicts) if verdict is not None and verdict.word is Word.AMBIGUOUS]
    if either:
        return f"may get to another cluster, through {_through(either, rows, labels)}", Style.HALF
    if any(verdict is None or verdict.word is Word.UNKNOWN for verdict in verdicts):
        return "no address is known to work", Style.DIM
    lacking = [word for word, name in _LACKING.items() if any(_only_lacks(verdict, name) for verdict in verdicts)]
    if lacking:
        return f"no address works without {' or '.join(lacking)}", Style.HALF
    return "no address works", Style.BAD


def _only_lacks(verdict: Verdict | None, word: Word) -> bool:
    """Whether a listener refuses only because the client, which nobody has configured, offers no TLS or no SASL."""
    refused = verdict.bootstrap if verdict is not None and verdict.word is word else None
    return isinstance(refused, Failed) and refused.because.startswith(_LISTENER_REQUIRES)


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
                Run(verdict_word(predicted, glyphs), Style.DIM),
                Run(glyphs.differs, Style.ERROR),
                Run(verdict_word(observed, glyphs), Style.ERROR),
                mark,
            )
        verdict = effective_verdict(cell)
        if verdict is None:
            return (Run("-", Style.DIM),)
        text = verdict_word(verdict, glyphs)
        if self._observed and verdict is not observed:
            text = f"({text})"
        return (Run(text, verdict_style(verdict)), mark)

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
        lines.append(f"{arrow}  a broker answers there, but the client cannot use the addresses that it advertises")
    if any(cell.agrees is False for cells in grid.cells for cell in cells):
        lines.append(f"a{screen.glyphs.differs}b  predicted a, observed b")
    if any(cell.observed for cells in grid.cells for cell in cells) and any(
        effective_verdict(cell) is not cell.observed for cells in grid.cells for cell in cells
    ):
        lines.append("( )  predicted, not observed")
    if any(address.host == DOCKER_HOST for row in grid.rows for address in row.addresses):
        lines.append(f"{DOCKER_HOST}  an address of the docker host on its network; set it with --docker-host-ip")
    room = screen.width - len(_INDENT)
    return [(Run(_INDENT + part, Style.DIM),) for line in lines for part in wrap(line, room)]


def _second_hop_failed(verdict: Verdict) -> bool:
    return verdict.advertised is not None and verdict_style(verdict) is Style.BAD


def effective_verdict(cell: Cell) -> Verdict | None:
    """What was observed where somebody could look, else what is predicted."""
    if cell.observed is not None and (cell.observed.word is not Word.UNKNOWN or cell.predicted is None):
        return cell.observed
    return cell.predicted


def verdict_word(verdict: Verdict, glyphs: Glyphs) -> str:
    """The verdict in a word; an arrow before it says that the bootstrap address answers and the next hop fails."""
    match verdict.word:
        case Word.OK | Word.UNKNOWN | Word.AMBIGUOUS:
            return verdict.word.value
        case Word.PARTIAL:
            return str(verdict)
        case Word.BOOTSTRAP | Word.ADVERTISED | Word.WRONG_BROKER | Word.NOT_KAFKA | Word.TLS | Word.SASL:
            text = verdict.reason or verdict.word.value
            return text if verdict.advertised is None else f"{glyphs.arrow}{text}"
        case _:
            assert_never(verdict.word)


def verdict_style(verdict: Verdict) -> Style:
    """Green, yellow, red or dim."""
    half = {Word.PARTIAL: Style.HALF, Word.AMBIGUOUS: Style.HALF}
    return {Word.OK: Style.GOOD, **half, Word.UNKNOWN: Style.DIM}.get(verdict.word, Style.BAD)


def verdict_explanation(verdict: Verdict) -> str:
    """Both hops in a sentence or two."""
    match verdict.bootstrap:
        case Failed(because=because) if because.startswith(_SAYS_ALL):
            return because
        case Failed(reason=reason, because=because):
            return _with_reason(_SPELLED[reason.value], because)
        case Unknown(because=because):
            return _with_reason(_SPELLED[Word.UNKNOWN.value], because)
        case Ambiguous(because=because):
            return because
        case Answered(foreign=True, because=because):
            return f"a broker of another cluster: {because}"
        case Answered():
            return _second_hop(verdict, verdict.bootstrap)
        case _:
            assert_never(verdict.bootstrap)


def _second_hop(verdict: Verdict, answered: Answered) -> str:
    who = "a broker" if answered.node_id is None else f"broker {answered.node_id}"
    on = f" on {answered.listener}" if answered.listener and not answered.listener.startswith("(") else ""
    if not verdict.endpoints:
        return f"{who} answers{on}, but returns no brokers"
    groups: dict[str, list[EndpointOutcome]] = {}
    for outcome in verdict.endpoints:
        groups.setdefault(outcome.outcome, []).append(outcome)
    parts = [_endpoint_group(name, group, alone=len(groups) == 1) for name, group in groups.items()]
    return f"{who} answers{on} and advertises {'; '.join(parts)}"


def _endpoint_group(outcome: str, group: Sequence[EndpointOutcome], *, alone: bool) -> str:
    where = addresses_text([o.endpoint.address for o in group])
    if not alone:
        ids = numbers_text([o.endpoint.node_id for o in group])
        where += f" ({'broker' if len(group) == 1 else 'brokers'} {ids})"
    if outcome == Word.OK.value:
        return f"{where}: ok"
    if outcome == Word.AMBIGUOUS.value:
        return f"{where}: {_because(outcome, group)}"
    return f"{where}: {_with_reason(_SPELLED.get(outcome, outcome), _because(outcome, group))}"


def _because(outcome: str, group: Sequence[EndpointOutcome]) -> str:
    """The reasons of a group, one of those that differ in numbers only."""
    if outcome == Word.WRONG_BROKER.value:
        met = [
            (o, o.contact.node_id) for o in group if isinstance(o.contact, Answered) and o.contact.node_id is not None
        ]
        # The right number, and yet another broker: that of another cluster.
        elsewhere = " of another cluster" if all(o.endpoint.node_id == number for o, number in met) else ""
        return f"it is broker {numbers_text([number for _, number in met])}{elsewhere}" if met else ""
    reasons = {_DIGITS.sub("#", o.contact.because): o.contact.because for o in reversed(group) if o.contact.because}
    return "; ".join(reversed(reasons.values()))


def _with_reason(text: str, because: str) -> str:
    return f"{text}, {because}" if because else text
