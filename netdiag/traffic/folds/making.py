"""Columns made over for folds: only as much of a value as the questions look at."""

import re
from collections.abc import Callable

import numpy as np
import pyarrow as pa

from netdiag.traffic.folds.fold import Maker

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
