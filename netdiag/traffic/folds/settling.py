"""Folded rows of all parts, of which percentiles need few: those at the places that are asked for, and the greatest.

Between two of these places rows that are alike otherwise are one, as large as the largest of them, so that every place
in the order has the value that it had. What rounds values to three digits keeps their order.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from netdiag.traffic.folds.fold import TIMES, Fold, Maker, merged

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
