"""The folds of one part of the tables, in which every connection is whole: which rows of it count, and their folds."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from netdiag.traffic.arrow import schema_of
from netdiag.traffic.folds.all_folds import ALL, VIEWS
from netdiag.traffic.folds.fold import Fold, Folding, mapped, schema_of_fold
from netdiag.traffic.tables import table
from netdiag.values import dataclass

_COMMITS, _TOLD = (8, 28), 9
_PLACE = ("topic", "partition")
OFFSETS_SCHEMA = pa.schema([("topic", pa.string()), ("partition", pa.int32()), ("offset", pa.int64())])


def waiting(offsets: pa.Table) -> pa.Table:
    """The offsets that groups have last, by topic and partition, each once."""
    topics = pc.coalesce(offsets["topic"], offsets["topic_id"])
    named = offsets.set_column(offsets.schema.get_field_index("topic"), "topic", topics)
    is_told = pc.equal(named["api_key"], _TOLD)
    offset = pc.if_else(is_told, named["response_offset"], named["request_offset"])
    worked = pc.or_(is_told, pc.equal(pc.fill_null(named["error_code"], 0), 0))
    known = pc.and_(pc.is_in(named["api_key"], pa.array((*_COMMITS, _TOLD), pa.int16())), pc.is_valid(named["group"]))
    wanted = pc.and_(pc.and_(known, pc.is_valid(topics)), pc.and_(worked, pc.greater_equal(offset, 0)))
    rows = named.select(("group", *_PLACE, "time")).append_column("offset", offset)
    rows = rows.filter(wanted).sort_by([("time", "ascending"), ("offset", "ascending")])
    last = rows.group_by(["group", *_PLACE], use_threads=False).aggregate([("offset", "last")])
    found = last.rename_columns([*last.column_names[:-1], "offset"]).group_by([*_PLACE, "offset"], use_threads=False)
    return found.aggregate([]).select(OFFSETS_SCHEMA.names).cast(OFFSETS_SCHEMA)


_CONNECTION, _TOPIC, _TOPIC_ID, _TOPICS = "connection", "topic", "topic_id", "topics"


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """`relays`: connections on which everything was said a second time; `names`: topics by their ids.

    `waiting`: up to which offsets groups have committed, see `waiting`; no rows of a table
    are left out for that.
    """

    relays: frozenset[int] = frozenset()
    names: Mapping[str, str] = field(default_factory=dict)
    waiting: pa.Table = field(default_factory=OFFSETS_SCHEMA.empty_table, compare=False)

    def columns(self, names: frozenset[str]) -> frozenset[str]:
        """What has to be read for these columns of a table."""
        more = {_CONNECTION} if self.relays else set()
        if self.names and _TOPIC in names:
            more.add(_TOPIC_ID)
        return names | more

    def of(self, rows: pa.Table) -> pa.Table:
        """What is left of these rows, with their topics named."""
        if self.relays:
            relays = pa.array(sorted(self.relays), pa.int64())
            rows = rows.filter(pc.invert(pc.is_in(rows[_CONNECTION], relays)))
        if self.names and _TOPIC in rows.column_names:
            known = mapped(rows[_TOPIC_ID], self.names.get)
            rows = _with(rows, _TOPIC, pc.coalesce(rows[_TOPIC], known))
        if self.names and _TOPICS in rows.column_names:
            rows = _with(rows, _TOPICS, pa.chunked_array([self._named(each) for each in rows[_TOPICS].chunks]))
        return rows

    def _named(self, lists: pa.ListArray) -> pa.ListArray:
        whole = lists.flatten()
        words = mapped(pa.chunked_array([whole], pa.string()), lambda text: self.names.get(text, text))
        sizes = pc.fill_null(pc.list_value_length(lists), 0).cast(pa.int32())
        ends = pc.cumulative_sum(sizes).cast(pa.int32())
        starts = pa.concat_arrays([pa.array([0], pa.int32()), ends])
        mask = pc.is_null(lists)
        return pa.ListArray.from_arrays(starts, pa.concat_arrays(words.chunks), type=lists.type, mask=mask)


def _with(rows: pa.Table, name: str, column: pa.ChunkedArray) -> pa.Table:
    return rows.set_column(rows.column_names.index(name), name, column)


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
