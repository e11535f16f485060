"""The pairs of addresses of packets to come, asked for while those before them are read.

What is asked for is a guess, that of Ethernet and IPv4 without options: a wrong one costs nothing but its own time.
"""

from typing import Any

import numpy as np

from netdiag.traffic.engine.compiled.front_keys import KeyArrays, hashed, native, word
from netdiag.traffic.engine.compiled.kernel import inlined
from netdiag.traffic.engine.compiled.prefetching import prefetch

FEW = 1 << 12
"""A table of so many slots is in the caches anyway."""
FAR, NEAR = 6, 3
"""So many packets before they are read, their slots are asked for, and their words."""
_HEADERS = 38


@inlined
def ask_slot(table: KeyArrays, data: Any, begin: Any) -> None:
    """Ask for the slot of the pair of a packet that begins there."""
    at = _place(table, data, begin)
    if at >= 0:
        prefetch(table.slots, at, 0)


@inlined
def ask_words(table: KeyArrays, data: Any, begin: Any) -> None:
    """Ask for the words of the pair that this slot names."""
    at = _place(table, data, begin)
    if at >= 0:
        number = np.int64(table.slots[at])
        if number >= 0:
            prefetch(table.words[number], 0, 0)


@inlined
def _place(table: KeyArrays, data: Any, begin: Any) -> Any:
    if begin < 0 or begin + _HEADERS > len(data):
        return np.int64(-1)
    if data[begin + 12] != 8 or data[begin + 13] or data[begin + 14] != 0x45:
        return np.int64(-1)
    b, d = native(data, begin + 26, 4), native(data, begin + 30, 4)
    e = np.uint64(4) << np.uint64(32) | word(data, begin + 34, 4)
    mask = np.uint64(len(table.slots) - 1)
    return np.int64(hashed(table.numbers, np.uint64(0), b, np.uint64(0), d, e) & mask)
