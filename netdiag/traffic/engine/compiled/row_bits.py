"""The bit that says a value of a row is there: its place among the columns of the table."""

from typing import Any

import numpy as np


def bit(row: Any, name: str) -> np.uint64:
    """Of a column of a row (one of `rows`)."""
    return np.uint64(1 << row._fields.index(name))


def mask(order: tuple[str, ...], name: str) -> np.uint32:
    """The bit of a name in `present` of a record of `layout`."""
    return np.uint32(1 << order.index(name))
