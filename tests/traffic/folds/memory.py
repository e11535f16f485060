"""Tables of one part in memory, as folds read them from files."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import pyarrow as pa

from netdiag.traffic.arrow import record_batch
from netdiag.traffic.folds.parts import OFFSETS_SCHEMA
from netdiag.traffic.tables import Column, Kind, table

_LEAST = {Kind.STRING: "", Kind.STRINGS: (), Kind.BOOL: False, Kind.FLOAT64: 0.0}


class InMemory:
    """The tables given, and none else; all rows are of exchanges that are read at once."""

    def __init__(self, waiting: pa.Table | None = None, **tables: pa.Table) -> None:
        self.waiting = OFFSETS_SCHEMA.empty_table() if waiting is None else waiting
        self._tables = tables

    def rows(self, name: str, columns: Iterable[str]) -> Iterator[pa.Table]:
        """The rows at once."""
        yield self._tables[name].select(sorted(set(columns)))

    def together(self, columns: Mapping[str, Iterable[str]]) -> Iterator[dict[str, pa.Table]]:
        """All of them at once."""
        yield {name: next(self.rows(name, these)) for name, these in columns.items()}


def rows_of(name: str, rows: Sequence[Mapping[str, object]]) -> pa.Table:
    """A table of these rows; what they do not say is null, or nothing where there has to be something.

    Times are microseconds.
    """
    columns = table(name).columns
    tuples = [tuple(_value(column, row) for column in columns) for row in rows]
    return pa.Table.from_batches([record_batch(table(name), tuples, unit="us")])


def _value(column: Column, row: Mapping[str, object]) -> object:
    if column.name not in row:
        return _LEAST.get(column.kind, 0) if column.required else None
    value = row[column.name]
    return value * 1000 if column.kind is Kind.TIME and isinstance(value, int) else value
