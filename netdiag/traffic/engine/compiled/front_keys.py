"""The table of pairs of addresses: a number for each, in the order in which they come.

Both ways of a pair get their numbers at once, an even one for the way that came first. A pair is found by hashing with
a seed of this run, so that no capture can be made to collide.
"""

import secrets
from typing import Any, NamedTuple

import numpy as np

from netdiag.traffic.engine.compiled.kernel import kernel
from netdiag.traffic.engine.compiled.layout import KEY

Array = np.ndarray[Any, Any]

NO_ROOM = -2
_LEAST = 1024
_COUNT, _SEED, _MOST = range(3)
# Of a pair that is its own way back there are no two ways; only the twin knows what it makes of that.
NO_PAIR = -1


class KeyArrays(NamedTuple):
    """What the kernels see: `words` of a pair are its addresses and ports as numbers, `slots` a hash table of it."""

    keys: Array
    words: Array
    slots: Array
    numbers: Array


class Keys:
    """The pairs of one reading, however many files it has.

    From `most` pairs on, both ways counted, `is_crowded` says that it is time for `start_over`, after which the same
    pairs get new numbers in new arrays; until then it grows, to twice as many at most: what is found no room for is
    told as NO_PAIR. `epoch` counts how often it started over.
    """

    def __init__(self, most: int = 1 << 19) -> None:
        self._most = max(most, 2)
        self.epoch = -1
        self.start_over()

    def start_over(self) -> None:
        """Forget all pairs."""
        self.epoch += 1
        numbers = np.zeros(3, np.int64)
        numbers[_SEED] = secrets.randbits(62) | 1
        numbers[_MOST] = 2 * self._most
        self.arrays = KeyArrays(_keys(_LEAST), np.zeros((_LEAST, 5), np.uint64), _slots(_LEAST), numbers)

    def __len__(self) -> int:
        return int(self.arrays.numbers[_COUNT])

    @property
    def is_crowded(self) -> bool:
        """Whether there are more pairs than there should be."""
        return len(self) >= self._most

    def grow(self) -> None:
        """Make room for as many again."""
        old, count = self.arrays, len(self)
        size = 2 * len(old.keys)
        keys, words = _keys(size), np.zeros((size, 5), np.uint64)
        keys[:count], words[:count] = old.keys[:count], old.words[:count]
        self.arrays = KeyArrays(keys, words, _slots(size), old.numbers)
        enter_all(self.arrays)


def _keys(size: int) -> Array:
    return np.zeros(size, KEY)


def _slots(size: int) -> Array:
    return np.full(2 * size, -1, np.int32)


@kernel
def hashed(numbers: Array, a: Any, b: Any, c: Any, d: Any, e: Any) -> Any:
    """Where to look for a pair of these words."""
    seed = np.uint64(numbers[1])
    value = (a ^ seed) * np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(32)) ^ b) * np.uint64(0xC2B2AE3D27D4EB4F)
    value = (value ^ (value >> np.uint64(29)) ^ c) * np.uint64(0x165667B19E3779F9)
    value = (value ^ (value >> np.uint64(32)) ^ d) * np.uint64(0x27D4EB2F165667C5)
    value = (value ^ (value >> np.uint64(31)) ^ e) * np.uint64(0x9E3779B97F4A7C15)
    return value ^ (value >> np.uint64(29))


@kernel
def enter_all(table: KeyArrays) -> None:
    """Fill the hash table anew."""
    words, slots = table.words, table.slots
    mask = np.int64(len(slots) - 1)
    for number in range(table.numbers[0]):
        w = words[number]
        at = np.int64(hashed(table.numbers, w[0], w[1], w[2], w[3], w[4]) & np.uint64(mask))
        while slots[at] >= 0:
            at = (at + 1) & mask
        slots[at] = number


@kernel
def word(data: Array, at: Any, count: int) -> Any:
    """The `count` bytes from `at` on as a number, the first one highest."""
    value = np.uint64(0)
    for index in range(count):
        value = value << np.uint64(8) | np.uint64(data[at + index])
    return value


@kernel
def look_up(table: KeyArrays, data: Array, source: int, destination: int, width: int, ports: int) -> Any:
    """The number of the pair of the addresses at `source` and `destination` and the four bytes of its ports.

    NO_ROOM where `grow` must come first.
    """
    if width == 4:
        a, b = np.uint64(0), word(data, source, 4)
        c, d = np.uint64(0), word(data, destination, 4)
    else:
        a, b = word(data, source, 8), word(data, source + 8, 8)
        c, d = word(data, destination, 8), word(data, destination + 8, 8)
    port, other = word(data, ports, 2), word(data, ports + 2, 2)
    e = np.uint64(width) << np.uint64(32) | port << np.uint64(16) | other
    words, slots, numbers = table.words, table.slots, table.numbers
    mask = np.int64(len(slots) - 1)
    at = np.int64(hashed(numbers, a, b, c, d, e) & np.uint64(mask))
    while True:
        number = slots[at]
        if number < 0:
            break
        if (
            words[number, 1] == b
            and words[number, 3] == d
            and words[number, 4] == e
            and words[number, 0] == a
            and words[number, 2] == c
        ):
            return np.int64(number)
        at = (at + 1) & mask
    if a == c and b == d and port == other:
        return np.int64(-1)
    return _enter(table, data, source, destination, width, a, b, c, d, port, other)


@kernel
def _enter(
    table: KeyArrays,
    data: Array,
    source: int,
    destination: int,
    width: int,
    a: Any,
    b: Any,
    c: Any,
    d: Any,
    port: Any,
    other: Any,
) -> Any:
    words, slots, numbers, keys = table.words, table.slots, table.numbers, table.keys
    first = numbers[0]
    if first + 2 > numbers[2]:
        return np.int64(-1)
    if first + 2 > len(keys):
        return np.int64(-2)
    mask = np.int64(len(slots) - 1)
    high = np.uint64(width) << np.uint64(32)
    for way in range(2):
        number = first + way
        if way == 1:
            a, b, c, d, port, other = c, d, a, b, other, port
            source, destination = destination, source
        words[number, 0], words[number, 1], words[number, 2], words[number, 3] = a, b, c, d
        e = high | port << np.uint64(16) | other
        words[number, 4] = e
        key = keys[number]
        for index in range(width):
            key.source[index] = data[source + index]
            key.destination[index] = data[destination + index]
        key.source_port = port
        key.destination_port = other
        key.width = width
        key.back = number ^ 1
        at = np.int64(hashed(numbers, a, b, c, d, e) & np.uint64(mask))
        while slots[at] >= 0:
            at = (at + 1) & mask
        slots[at] = number
    numbers[0] = first + 2
    return first
