"""What a fold is: which rows of a table are alike for a question, and what is kept of those that become one.

A folded table has columns of its table by the same names, `times`, in how many rows that was, and where it is asked
for `until`, the time of the last of them. A folded table that is folded again stays what it is.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from netdiag.values import dataclass

TIMES, UNTIL, TIME = "times", "until", "time"
_ROW = "row"

Maker = Callable[[pa.Table], pa.ChunkedArray | pa.Array]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """Rows of the table `of` with the same `keys` are one, if they meet the condition `where`.

    With `apart` every row stays one of its own: the fold is a choice of rows and columns.
    `sums`, `greatest`: what becomes of other columns; a sum of nothing but nulls is null, and nulls are never added to
    numbers. `first`: columns of the earliest row, by these columns; `until` then is the time of the last. `made`:
    columns that are made over before anything else. `beside`: keys that are not kept; they have to be the same for what
    a row has become.
    """

    of: str
    keys: tuple[str, ...]
    sums: tuple[str, ...] = ()
    greatest: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    apart: bool = False
    where: Maker | None = None
    needs: tuple[str, ...] = ()
    made: Mapping[str, Maker] = field(default_factory=dict)
    beside: Mapping[str, Maker] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table that the fold has."""
        return (*self.keys, *self.first, *self.sums, *self.greatest)

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns of the table that it reads."""
        return tuple(dict.fromkeys((*self.columns, *self.needs)))


class Reader(Protocol):
    """The tables of one part, with those of their columns that are asked for; `waiting`: as a selection has it."""

    @property
    def waiting(self) -> pa.Table: ...

    def rows(self, name: str, columns: Iterable[str], /) -> Iterator[pa.Table]:
        """The rows of a table, a batch at a time."""
        ...

    def together(self, columns: Mapping[str, Iterable[str]], /) -> Iterator[dict[str, pa.Table]]:
        """Those of several tables, of the same exchanges at a time; the tables are among `TOGETHER`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """Rows made of several tables of a part, which folds can be of: their schema, and they with some columns."""

    schema: Callable[[], pa.Schema]
    rows: Callable[[Reader, Iterable[str]], Iterator[pa.Table]]


class Folding:
    """One fold under way; what has more than `most` rows is given away, and partial."""

    def __init__(self, fold: Fold, most: int = 100_000) -> None:
        self._fold = fold
        self._most = most
        self._held: list[pa.Table] = []
        self._rows = 0

    def add(self, rows: pa.Table) -> pa.Table | None:
        """Fold rows of the table in; gives folded rows when it holds more than is good."""
        kept = _prepared(self._fold, rows)
        if kept.num_rows == 0:
            return None
        self._hold(_alike(self._fold, kept))
        if self._rows <= self._most:
            return None
        whole = self._whole()
        if 2 * whole.num_rows > self._most:
            return whole
        self._hold(whole)
        return None

    def rest(self) -> pa.Table | None:
        """What is held."""
        return self._whole() if self._held else None

    @property
    def held(self) -> int:
        """How many rows are held."""
        return self._rows

    def _hold(self, rows: pa.Table) -> None:
        self._held.append(rows)
        self._rows += rows.num_rows

    def _whole(self) -> pa.Table:
        held, self._held, self._rows = self._held, [], 0
        return held[0] if len(held) == 1 else _alike(self._fold, pa.concat_tables(held))


def folded(fold: Fold, rows: pa.Table) -> pa.Table:
    """All of a table at once."""
    return _alike(fold, _prepared(fold, rows))


def merged(fold: Fold, rows: pa.Table) -> pa.Table:
    """Folded rows of several parts, folded again."""
    return _alike(fold, rows)


def schema_of_fold(fold: Fold, table: pa.Schema) -> pa.Schema:
    """The schema of the folded table, from that of its table."""
    return folded(fold, table.empty_table()).schema


def _prepared(fold: Fold, rows: pa.Table) -> pa.Table:
    """The rows that are wanted, made over, each once."""
    if fold.where is not None:
        rows = rows.filter(fold.where(rows))
    for name, maker in fold.made.items():
        rows = rows.set_column(rows.schema.get_field_index(name), name, maker(rows))
    once = pa.array([1], pa.int64()).take(pa.nulls(rows.num_rows, pa.int64()).fill_null(0))
    found = rows.select(fold.columns).append_column(TIMES, once)
    return found.append_column(UNTIL, rows[TIME]) if fold.first else found


def _alike(fold: Fold, rows: pa.Table) -> pa.Table:
    """Rows that are alike as one."""
    if fold.apart:
        return rows
    if fold.first:
        order = pa.table({name: _ranked(rows[name]) for name in fold.first})
        rows = rows.take(pc.sort_indices(order, [(name, "ascending") for name in fold.first]))
    keys = {f"k{number}": _hashed(rows[name]) for number, name in enumerate(fold.keys)}
    keys |= {f"n{number}": pc.is_null(rows[name]) for number, name in enumerate(fold.sums)}
    keys |= {f"b{number}": maker(rows) for number, maker in enumerate(fold.beside.values())}
    sums, greatest = (*fold.sums, TIMES), (*fold.greatest, *((UNTIL,) if fold.first else ()))
    beside = {name: rows[name] for name in (*sums, *greatest)}
    place = pa.array(range(0)) if rows.num_rows == 0 else pc.cumulative_sum(pa.repeat(1, rows.num_rows))
    grouped = (
        pa.table({**keys, **beside, _ROW: pc.subtract(place.cast(pa.int64()), 1)})
        .group_by(list(keys), use_threads=False)
        .aggregate([(_ROW, "min"), *((name, "sum") for name in sums), *((name, "max") for name in greatest)])
    )
    ones = rows.select((*fold.keys, *fold.first)).take(grouped[f"{_ROW}_min"])
    found = {name: ones[name] for name in ones.column_names}
    found |= {name: grouped[f"{name}_sum"] for name in sums} | {name: grouped[f"{name}_max"] for name in greatest}
    return pa.table(found)


def _ranked(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column that can be sorted by, nulls first."""
    if pa.types.is_string(column.type):
        return pc.fill_null(column, "")
    return pc.fill_null(column.cast(pa.int64()), -1)


def _hashed(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column that can be a key: a list as the text of it."""
    if not pa.types.is_list(column.type):
        return column
    return pa.chunked_array([_texts(chunk) for chunk in column.chunks], pa.string())


def _texts(lists: pa.ListArray) -> pa.Array:
    """A text for each list, the same for the same lists only: no length stands without its text."""
    words = lists.flatten()
    lengths = pc.utf8_length(words).cast(pa.string())
    marked = pc.fill_null(pc.binary_join_element_wise(lengths, words, ":"), "")
    sizes = pc.fill_null(pc.list_value_length(lists), 0)
    ends = pc.cumulative_sum(sizes).cast(pa.int32()) if len(lists) else sizes
    starts = pa.concat_arrays([pa.array([0], pa.int32()), ends])
    joined = pc.binary_join(pa.ListArray.from_arrays(starts, marked), ",")
    return pc.if_else(pc.is_null(lists), None, joined)


_PORT = re.compile(r":[0-9]+$")
# What lies so near to where three digits are rounded up, or to another power of ten, stays a value of its own.
_NEAR = 1e-6
_LEAST, _MOST = 101, 999


def hosts(name: str) -> Maker:
    """An address:port, with port 0 whatever it is."""
    return lambda rows: mapped(rows[name], lambda text: _PORT.sub(":0", text))


def seconds(name: str, count: int = 1) -> Maker:
    """The beginning of the so many seconds in which a time lies, counted from 1970."""

    def begin(rows: pa.Table) -> pa.ChunkedArray:
        column = rows[name]
        whole = column.cast(pa.int64()).to_numpy()
        unit = count * 1_000_000
        return pa.chunked_array([pa.array(whole // unit * unit, pa.int64()).cast(column.type)])

    return begin


def digits(value: Maker) -> Maker:
    """A key under which only numbers lie that are the same at three digits, as `expressions.quantiles` has them.

    It need not find all that are the same: rounding half a unit, or a power of ten, is Spark's affair.
    """

    def key(rows: pa.Table) -> pa.Array:
        given = value(rows).cast(pa.float64()).to_numpy(zero_copy_only=False)
        return pa.array(three_digits(given), from_pandas=True)

    return key


def three_digits(
    values: "np.ndarray[tuple[int], np.dtype[np.float64]]",
) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """The keys of `digits`; NaN is no value."""
    with np.errstate(all="ignore"):
        unit = np.power(10.0, np.floor(np.log10(values)) - 2)
        scaled = values / unit
        whole = np.rint(scaled)
        sure = (np.abs(np.abs(scaled - whole) - 0.5) > _NEAR) & (whole >= _LEAST) & (whole <= _MOST)
        return np.where(sure, whole * unit, values)


def mapped(column: pa.ChunkedArray, of: Callable[[str], str | None]) -> pa.ChunkedArray:
    """A text for every text, found once for those that are the same."""
    chunks = []
    for chunk in column.chunks:
        coded = chunk.dictionary_encode()
        texts = pa.array([of(text) for text in coded.dictionary.to_pylist()], pa.string())
        chunks.append(texts.take(coded.indices))
    return pa.chunked_array(chunks, pa.string())


_PLACE = "place_{}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantiles:
    """The percentiles of a value that a question asks for in each group of rows, null where a row has no such value."""

    value: Maker
    percents: tuple[int, ...]
    groups: tuple[Maker, ...]


def column(name: str) -> Maker:
    """A column as it is."""
    return lambda rows: rows[name]


def settled(asked: Sequence[Quantiles]) -> Callable[[Fold, pa.Table], pa.Table]:
    """The rows of all parts folded once more, enough for these percentiles."""

    def whole(fold: Fold, rows: pa.Table) -> pa.Table:
        rows = rows.combine_chunks()
        if rows.num_rows == 0:
            return rows
        places = {_PLACE.format(number): _places(each, rows) for number, each in enumerate(asked)}
        marked = replace(fold, keys=(*fold.keys, *places), beside={})
        for name, place in places.items():
            rows = rows.append_column(name, pa.array(place))
        return merged(marked, rows).drop_columns(list(places))

    return whole


def _places(asked: Quantiles, rows: pa.Table) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """Where each row is: at a place that is asked for (odd), or between which of them (even), within its group."""
    values = asked.value(rows).cast(pa.float64()).to_numpy(zero_copy_only=False)
    times = rows[TIMES].to_numpy()
    group = _numbered([maker(rows) for maker in asked.groups], rows.num_rows)
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.lexsort((values[known], group[known]))]
    found = np.full(rows.num_rows, -1, np.int64)
    if len(order) == 0:
        return found
    groups, until = group[order], np.cumsum(times[order])
    begin = np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]])
    end = np.r_[begin[1:], len(order)]
    before = until[begin] - times[order][begin]
    last = until[end - 1] - before - 1
    marks = np.zeros(len(order), np.bool_)
    marks[end - 1] = True
    for percent in asked.percents:
        # As Spark finds it: between two rows where this is no whole number.
        position = last * (percent / 100)
        for near in (np.floor(position), np.ceil(position)):
            marks[np.searchsorted(until, before + near.astype(np.int64), "right")] = True
    found[order] = 2 * np.cumsum(marks) - marks
    return found


def _numbered(columns: Sequence[pa.ChunkedArray], rows: int) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """A number for each row, the same for those that are alike in all of these columns."""
    found = np.zeros(rows, np.int64)
    for column in columns:
        coded = column.combine_chunks().dictionary_encode(null_encoding="encode")
        indices = coded.indices.to_numpy()
        _, found = np.unique(found * len(coded.dictionary) + indices, return_inverse=True)
    return found
