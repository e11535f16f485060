"""Folding a matrix: bootstrap addresses and vantages that behave alike become one row and one column.

Alike is not equal: `localhost:9092` works inside broker-2 and not inside broker-1, `localhost:9091` the other way
round. So rows and columns are sorted into classes by refinement (two rows are alike when they meet the same
verdicts in alike columns, two columns likewise, until nothing changes). What remains is a block of rows x columns
that holds one verdict everywhere, or one on its diagonal and another beside it. The latter is drawn as two
columns, "inside that broker" and "inside the others". A block of any other shape is taken apart.
"""

import ipaddress
from collections import Counter
from collections.abc import Sequence
from enum import Enum
from typing import TypeVar

from netdiag.deployment.model.contact import Address
from netdiag.deployment.model.vantage import Vantage, VantageKind
from netdiag.deployment.model.verdict import Cell
from netdiag.patterns import regex
from netdiag.render.report import Matrix
from netdiag.values import dataclass

# Vantages of one group may share a column; the docker host always has its own.
_GROUPS = {
    VantageKind.BROKER: "brokers",
    VantageKind.CONTAINER: "clients",
    VantageKind.OTHER_NETWORK: "outside",
    VantageKind.LAN: "outside",
}
_DIGITS = regex(r"\d+")

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
