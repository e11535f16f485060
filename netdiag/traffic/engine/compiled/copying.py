"""Bytes from one array to another, as fast as the machine can."""

from typing import Any

import numpy as np

from netdiag.traffic.engine.compiled.kernel import inlined


@inlined
def copy(target: Any, to: Any, source: Any, begin: Any, count: Any) -> None:
    """Copy `count` bytes. The caller has checked that they are there, and that there is room.

    Indices that cannot be below 0 need no look at that, so that this becomes steps of many bytes: 20 times as fast.
    """
    first, there = np.uint64(to), np.uint64(begin)
    for index in range(np.uint64(count)):
        target[first + index] = source[there + index]
