"""The table of pairs of addresses: a number for each, in the order in which they come.

Both ways of a pair get their numbers at once, an even one for the way that came first. A pair is found by hashing with
a seed of this run, so that no capture can be made to collide.
"""

import secrets
from typing import Any, NamedTuple

import numpy as np

from netdiag.traffic.engine.compiled.kernel import inlined, kernel
from netdiag.traffic.engine.compiled.layout import KEY

Array = np.ndarray[Any, Any]

NO_ROOM = -2
_LEAST = 1024
_COUNT, _SEED, _MOST = range(3)
# Of a pair that is its own way back there are no two ways; only the twin knows what it makes of that.
NO_PAIR = -1


class KeyArrays(NamedTuple):
    """What the kernels see: `words` are the same memory as `keys` as numbers of 4 bytes, `slots` a hash table of it."""

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
        self.arrays = _arrays(_keys(_LEAST), numbers)

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
        keys = _keys(size)
        keys[:count] = old.keys[:count]
        self.arrays = _arrays(keys, old.numbers)
        enter_all(self.arrays)


def _keys(size: int) -> Array:
    return np.zeros(size, KEY)


def _arrays(keys: Array, numbers: Array) -> KeyArrays:
    words = keys.view(np.uint32).reshape(len(keys), -1)
    return KeyArrays(keys, words, np.full(2 * len(keys), -1, np.int32), numbers)


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
    slots = table.slots
    mask = np.int64(len(slots) - 1)
    for number in range(table.numbers[0]):
        key = table.keys[number]
        width = np.int64(key.width)
        a, b = _words(table, number, 0, width)
        c, d = _words(table, number, 4, width)
        e = np.uint64(width) << np.uint64(32) | np.uint64(key.source_port) << np.uint64(16)
        e |= np.uint64(key.destination_port)
        at = np.int64(hashed(table.numbers, a, b, c, d, e) & np.uint64(mask))
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
def native(data: Array, at: Any, count: int) -> Any:
    """The same, the first one lowest."""
    value = np.uint64(0)
    for index in range(count):
        value |= np.uint64(data[at + index]) << np.uint64(8 * index)
    return value


@inlined
def _words(table: KeyArrays, number: Any, first: Any, width: Any) -> Any:
    """An address of a pair as two numbers."""
    words = table.words
    low = np.uint64(words[number, first])
    if width == 4:
        return np.uint64(0), low
    low |= np.uint64(words[number, first + 1]) << np.uint64(32)
    return low, np.uint64(words[number, first + 2]) | np.uint64(words[number, first + 3]) << np.uint64(32)


@inlined
def _is_pair(table: KeyArrays, number: Any, width: Any, a: Any, b: Any, c: Any, d: Any, port: Any, other: Any) -> Any:
    key = table.keys[number]
    if key.source_port != port or key.destination_port != other or key.width != width:
        return False
    source, destination = _words(table, number, 0, width), _words(table, number, 4, width)
    return source[1] == b and destination[1] == d and source[0] == a and destination[0] == c


@kernel
def look_up(table: KeyArrays, data: Array, source: int, destination: int, width: int, ports: int) -> Any:
    """The number of the pair of the addresses at `source` and `destination` and the four bytes of its ports.

    NO_ROOM where `grow` must come first.
    """
    if width == 4:
        a, b = np.uint64(0), native(data, source, 4)
        c, d = np.uint64(0), native(data, destination, 4)
    else:
        a, b = native(data, source, 8), native(data, source + 8, 8)
        c, d = native(data, destination, 8), native(data, destination + 8, 8)
    port, other = word(data, ports, 2), word(data, ports + 2, 2)
    e = np.uint64(width) << np.uint64(32) | port << np.uint64(16) | other
    slots, numbers = table.slots, table.numbers
    mask = np.int64(len(slots) - 1)
    at = np.int64(hashed(numbers, a, b, c, d, e) & np.uint64(mask))
    while True:
        number = slots[at]
        if number < 0:
            break
        if _is_pair(table, number, width, a, b, c, d, port, other):
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
    slots, numbers, keys = table.slots, table.numbers, table.keys
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
        e = high | port << np.uint64(16) | other
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
