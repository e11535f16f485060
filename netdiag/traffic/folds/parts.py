"""The folds of one part of the tables, in which every connection is whole."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from netdiag.traffic.arrow import schema_of
from netdiag.traffic.folds.all_folds import ALL, VIEWS
from netdiag.traffic.folds.fold import Fold, Folding, schema_of_fold
from netdiag.traffic.folds.selection import Selection
from netdiag.traffic.tables import table


class Part:
    """The tables of one part, as files; rows are read a row group at a time, and those of the selection only."""

    def __init__(self, files: Mapping[str, Path], selection: Selection) -> None:
        self._files = files
        self._selection = selection

    @property
    def waiting(self) -> pa.Table:
        """Up to which offsets groups have committed."""
        return self._selection.waiting

    def rows(self, name: str, columns: Iterable[str]) -> Iterator[pa.Table]:
        """The rows of a table, with these of its columns."""
        yield from (group[name] for group in self.together({name: columns}))

    def together(self, columns: Mapping[str, Iterable[str]]) -> Iterator[dict[str, pa.Table]]:
        """The rows of several tables, those of the same exchanges at once, as `TOGETHER` has them."""
        wanted = {name: self._selection.columns(frozenset(these)) for name, these in columns.items()}
        shapes = {name: _shape(name, these) for name, these in wanted.items()}
        with ExitStack() as open_files:
            files = {name: open_files.enter_context(pq.ParquetFile(self._files[name])) for name in columns}
            for number in range(min(file.num_row_groups for file in files.values())):
                yield {
                    name: self._selection.of(file.read_row_group(number, shapes[name].names).cast(shapes[name]))
                    for name, file in files.items()
                }


def _shape(name: str, columns: frozenset[str]) -> pa.Schema:
    return schema_of(table(name), [each for each in table(name).names if each in columns], unit="us")


def fold_part(part: Part, write: Callable[[str, pa.Table], None], folds: Mapping[str, Fold] = ALL) -> None:
    """Give the rows of every fold to `write`, as many times as it takes."""
    for of in dict.fromkeys(fold.of for fold in folds.values()):
        under_way = {name: Folding(fold) for name, fold in folds.items() if fold.of == of}
        columns = {column for name in under_way for column in ALL[name].reads}
        for rows in rows_of(part, of, columns):
            for name, folding in under_way.items():
                full = folding.add(rows)
                if full is not None:
                    write(name, full)
        for name, folding in under_way.items():
            rest = folding.rest()
            if rest is not None:
                write(name, rest)


def told_names(part: Part) -> dict[str, str]:
    """The topic of every id that is told in this part, as `aggregates.topic_names` has them."""
    found: dict[str, str] = {}
    for name in ("leaders", "partitions"):
        for rows in part.rows(name, ("topic_id", "topic")):
            told = rows.filter(pc.and_(pc.is_valid(rows["topic_id"]), pc.is_valid(rows["topic"])))
            pairs = told.group_by(["topic_id", "topic"], use_threads=False).aggregate([])
            for key, topic in zip(pairs["topic_id"].to_pylist(), pairs["topic"].to_pylist(), strict=True):
                found[key] = min(found.get(key, topic), topic)
    return found


def rows_of(part: Part, of: str, columns: Iterable[str]) -> Iterator[pa.Table]:
    """The rows that are folded: of a table, or of a view of several."""
    return VIEWS[of].rows(part, columns) if of in VIEWS else part.rows(of, columns)


def schema_of_folded(fold: Fold) -> pa.Schema:
    """The columns that a folded table has."""
    view = VIEWS.get(fold.of)
    whole = view.schema() if view is not None else schema_of(table(fold.of), unit="us")
    return schema_of_fold(fold, whole)
