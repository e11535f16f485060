"""Texts of messages as numbers: equal texts, equal numbers, counted from 0 in the order in which they were met.

A table is four arrays: `data` with the bytes behind one another, `bounds` with where each ends (one more than there are
texts, the first is 0), `slots` with numbers by hash, `counts` with how many there are and the start of the hash. Bytes
that are not UTF-8 stand as what Python's decoding with "replace" makes of them. Whoever adds asks for room before.
"""

import secrets
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from netdiag.traffic.engine.compiled.kernel import inlined, kernel

Bytes = npt.NDArray[Any]

_COUNT, _SEED = 0, 1
_PRIME = 0x100000001B3
LONGEST_ADDED = 3
"""A text may take so many times its bytes."""


class Strings(NamedTuple):
    """A table of texts."""

    data: Bytes
    bounds: npt.NDArray[Any]
    slots: npt.NDArray[Any]
    counts: npt.NDArray[Any]


def strings(texts: int = 1 << 12, size: int = 1 << 17) -> Strings:
    """An empty table with room for so many texts of so many bytes; `texts` is a power of two."""
    counts = np.array([0, secrets.randbits(62)], np.int64)
    return Strings(np.zeros(size, np.uint8), np.zeros(texts + 1, np.int64), np.full(4 * texts, -1, np.int32), counts)


def grown(table: Strings, texts: int, size: int) -> Strings:
    """The same texts under the same numbers, with room for more."""
    wider = strings(texts, size)
    count = int(table.counts[_COUNT])
    used = int(table.bounds[count])
    wider.data[:used] = table.data[:used]
    wider.bounds[: count + 1] = table.bounds[: count + 1]
    wider.counts[:] = table.counts
    _index(wider)
    return wider


def selected(table: Strings, numbers: npt.NDArray[np.int64]) -> Strings:
    """A table with these texts of another one, under new numbers 0, 1, ..."""
    chosen = strings(len(table.bounds) - 1, len(table.data))
    for number in numbers.tolist():
        start, end = int(table.bounds[number]), int(table.bounds[number + 1])
        add_bytes(chosen, table.data, start, end - start)
    return chosen


def raw(table: Strings, number: int) -> bytes:
    """The bytes of a text."""
    return table.data[table.bounds[number] : table.bounds[number + 1]].tobytes()


def text(table: Strings, number: int) -> str | None:
    """A text; None below 0."""
    return raw(table, number).decode() if number >= 0 else None


@kernel
def has_room(table: Strings, texts: int, size: int) -> bool:
    """Whether so many texts of so many bytes together may be added."""
    count = table.counts[0]
    room: bool = count + texts < len(table.bounds) and table.bounds[count] + 3 * size <= len(table.data)
    return room


@inlined
def add(table: Strings, data: Bytes, start: int, length: int) -> int:
    """The number of a text; -1 where there is no room."""
    place = _place(table, data, start, length)
    number: int = table.slots[place]
    if number >= 0:
        return number
    if is_text(data, start, length):
        return _put(table, place, data, start, length)
    free = table.bounds[table.counts[0]]
    if free + LONGEST_ADDED * length > len(table.data):
        return -1
    size = _replace(data, start, length, table.data, free)
    place = _place(table, table.data, free, size)
    number = table.slots[place]
    if number >= 0:
        return number
    return _put(table, place, table.data, free, size)


@kernel
def add_bytes(table: Strings, data: Bytes, start: int, length: int) -> int:
    """The number of bytes that are no text; -1 where there is no room."""
    place = _place(table, data, start, length)
    number: int = table.slots[place]
    if number >= 0:
        return number
    return _put(table, place, data, start, length)


@kernel
def is_text(data: Bytes, start: int, length: int) -> bool:
    """Whether bytes are UTF-8."""
    at, end = start, start + length
    while at < end:
        step = _sequence(data, at, end)
        if step <= 0:
            return False
        at += step
    return True


@kernel
def _replace(data: Bytes, start: int, length: int, out: Bytes, to: int) -> int:
    """Write U+FFFD for each longest beginning of a character that does not go on; gives how many bytes there are."""
    at, end, size = start, start + length, 0
    while at < end:
        step = _sequence(data, at, end)
        if step > 0:
            for each in range(step):
                out[to + size + each] = data[at + each]
            size += step
            at += step
        else:
            out[to + size] = 0xEF
            out[to + size + 1] = 0xBF
            out[to + size + 2] = 0xBD
            size += 3
            at += max(1, -step)
    return size


@kernel
def _sequence(data: Bytes, at: int, end: int) -> int:
    """How many bytes the character takes; of one that is none, below 0 how many bytes of it were right."""
    first = data[at]
    if first < 0x80:
        return 1
    if first < 0xC2 or first > 0xF4:
        return -1
    if first < 0xE0:
        count = 2
    elif first < 0xF0:
        count = 3
    else:
        count = 4
    for index in range(1, count):
        low, high = 0x80, 0xBF
        if index == 1:
            if first == 0xE0:
                low = 0xA0
            elif first == 0xED:
                high = 0x9F
            elif first == 0xF0:
                low = 0x90
            elif first == 0xF4:
                high = 0x8F
        if at + index >= end or data[at + index] < low or data[at + index] > high:
            return -index
    return count


@inlined
def _place(table: Strings, data: Bytes, start: int, length: int) -> int:
    """The slot where the text stands, or where it would."""
    hashed = np.uint64(table.counts[1])
    for index in range(start, start + length):
        hashed = (hashed ^ np.uint64(data[index])) * np.uint64(_PRIME)
    mask = len(table.slots) - 1
    place: Any = np.int64((hashed ^ (hashed >> np.uint64(32))) & np.uint64(mask))
    while True:
        number = table.slots[place]
        if number < 0:
            return int(place)
        begin = table.bounds[number]
        if table.bounds[number + 1] - begin == length:
            index = 0
            while index < length and table.data[begin + index] == data[start + index]:
                index += 1
            if index == length:
                return int(place)
        place = (place + 1) & mask


@kernel
def _put(table: Strings, place: int, data: Bytes, start: int, length: int) -> int:
    number: int = table.counts[0]
    begin = table.bounds[number]
    if number + 1 >= len(table.bounds) or begin + length > len(table.data):
        return -1
    for index in range(length):
        table.data[begin + index] = data[start + index]
    table.bounds[number + 1] = begin + length
    table.slots[place] = number
    table.counts[0] = number + 1
    return number


@kernel
def _index(table: Strings) -> None:
    """Fill the slots anew."""
    for number in range(table.counts[0]):
        begin = table.bounds[number]
        place = _place(table, table.data, begin, table.bounds[number + 1] - begin)
        table.slots[place] = number
