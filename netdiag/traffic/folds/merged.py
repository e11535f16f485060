"""Folded rows of several pieces made one: what the capture engine has summed up, once more over all of it.

A folded table has columns of its table by the same names, `times`, in how many rows that was, and where it is asked
for `until`, the time of the last of them. What becomes of a column the engine says in the metadata of its field.
"""

import re
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from netdiag.values import dataclass

TIMES, UNTIL = "times", "until"
FIRST_OF_TOPIC, FIRST_OF_PARTITION, LOG_END = "first_of_topic", "first_of_partition", "log_end"
"""In how many exchanges a row stands for those of its topic, of its partition; the end of the log it tells."""
ACKS, ALL_BYTES, ALL_RECORDS = "acks", "all_bytes", "all_records"
RESENT, MOST_RESENT = "resent", "most_resent"
"""Of batches: how often they were sent again, how often the one was sent that was sent most often."""

KEY, BESIDE, SUM, GREATEST, FIRST = "key", "beside", "sum", "greatest", "first"
"""Rows are alike that have the same; the same, of what is of no more use then; what becomes of the rest of them."""
_ROLE = b"role"
_ROW = "row"

Maker = Callable[[pa.Table], pa.ChunkedArray | pa.Array]


def roles(schema: pa.Schema, *wanted: str) -> list[str]:
    """The columns of which the engine says that."""
    return [field.name for field in schema if field.metadata and field.metadata[_ROLE].decode() in wanted]


def with_column(rows: pa.Table, name: str, role: str, column: pa.ChunkedArray | pa.Array) -> pa.Table:
    """The rows with one more column, which has a role."""
    return rows.append_column(pa.field(name, column.type, metadata={_ROLE: role.encode()}), column)


def merged(rows: pa.Table) -> pa.Table:
    """Rows that are alike as one; what is not added up stays as it is."""
    schema = rows.schema
    if TIMES not in schema.names or rows.num_rows == 0:
        return rows
    first, sums, greatest = roles(schema, FIRST), roles(schema, SUM), roles(schema, GREATEST)
    common = roles(schema, KEY, BESIDE)
    if first:
        order = pa.table({name: _ranked(rows[name]) for name in first})
        rows = rows.take(pc.sort_indices(order, [(name, "ascending") for name in first]))
    keys = {f"k{number}": _hashed(rows[name]) for number, name in enumerate(common)}
    # A sum of nothing but nulls is null, and nulls are never added to numbers.
    keys |= {f"n{number}": pc.is_null(rows[name]) for number, name in enumerate(sums)}
    beside = {name: rows[name] for name in (*sums, *greatest)}
    grouped = (
        pa.table({**keys, **beside, _ROW: pa.array(np.arange(rows.num_rows))})
        .group_by(list(keys), use_threads=False)
        .aggregate([(_ROW, "min"), *((name, "sum") for name in sums), *((name, "max") for name in greatest)])
    )
    ones = rows.select([*common, *first]).take(grouped[f"{_ROW}_min"])
    found = {name: ones[name] for name in ones.column_names}
    found |= {name: grouped[f"{name}_sum"] for name in sums} | {name: grouped[f"{name}_max"] for name in greatest}
    return pa.table({name: found[name] for name in schema.names}).cast(schema)


def without_beside(rows: pa.Table) -> pa.Table:
    """What is of use when everything is merged."""
    return rows.drop_columns(roles(rows.schema, BESIDE))


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


def hosts(name: str) -> Maker:
    """An address:port, with port 0 whatever it is."""
    return lambda rows: mapped(rows[name], lambda text: _PORT.sub(":0", text))


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


def settled(asked: Sequence[Quantiles]) -> Callable[[pa.Table], pa.Table]:
    """Merged rows merged once more, enough for these percentiles."""

    def whole(rows: pa.Table) -> pa.Table:
        rows = without_beside(rows).combine_chunks()
        if rows.num_rows == 0:
            return rows
        places = {_PLACE.format(number): _places(each, rows) for number, each in enumerate(asked)}
        for name, place in places.items():
            rows = with_column(rows, name, BESIDE, pa.array(place))
        return without_beside(merged(rows))

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
    for each in columns:
        coded = (each.combine_chunks() if isinstance(each, pa.ChunkedArray) else each).dictionary_encode(
            null_encoding="encode"
        )
        indices = coded.indices.to_numpy(zero_copy_only=False)
        _, found = np.unique(found * len(coded.dictionary) + indices, return_inverse=True)
    return found
