"""Asking for memory changes nothing, wherever it is."""

from typing import Any

import numba
import numpy as np

from netdiag.traffic.engine.compiled.prefetching import prefetch


def _sum(rows: Any, far: int) -> int:
    total = 0
    for index in range(len(rows)):
        prefetch(rows, index + far, 64)
        total += rows[index].number
    return total


_summed: Any = numba.njit(_sum)


def test_nothing_is_read_and_nothing_happens() -> None:
    rows = np.zeros(1000, np.dtype([("number", "i8"), ("more", "u1", (90,))], align=True))
    rows["number"] = np.arange(1000)
    for far in (0, 8, -5000, 1 << 40):
        assert _summed(rows, far) == 499_500
