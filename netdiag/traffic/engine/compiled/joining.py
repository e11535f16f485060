"""Join the partitions of a request with those of its response, in arrays: the order is that of `details`.

A key that a request names several times is one, with what was said of it last; the first answer takes it.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from netdiag.traffic.engine.compiled.arenas import Arenas
from netdiag.traffic.engine.compiled.kernel import kernel

Numbers = npt.NDArray[Any]

NONE = -1
# So many are compared one with another before it is worth filling a table.
_FEW = 12
_HAS_GROUP = np.uint32(1 << 2)


class Join(NamedTuple):
    """Room for one join: of `keys`, the index of the row that the request has last, and whether it was taken.

    `table` is a power of two above twice the keys. `figures`: how many keys, the size of the table in use, a seed.
    """

    rows: Numbers
    taken: Numbers
    table: Numbers
    figures: Numbers


def new_join(room: int, seed: int) -> Join:
    """Room for requests of so many partitions."""
    return Join(
        np.zeros(room, np.int64),
        np.zeros(room, np.uint8),
        np.full(1 << (2 * room).bit_length(), NONE, np.int32),
        np.array([0, 0, seed], np.int64),
    )


@kernel
def topic_of(arenas: Arenas, topic: int) -> Any:
    """A topic as all arenas have it: the number of its text, or below -1 that of its id."""
    if topic >= 0:
        return arenas.texts[topic]
    return -2 - arenas.ids[-2 - topic]


@kernel
def group_of(arenas: Arenas, row: Any) -> Any:
    """The group of a row, -1 where it has none of its own."""
    return arenas.texts[row.group] if row.present & _HAS_GROUP else NONE


@kernel
def prepare(join: Join, arenas: Arenas, begin: int, end: int) -> Any:
    """The request names these partitions; gives how many keys that are."""
    count = 0
    size = 0
    if end - begin > _FEW:
        size = 1
        while size < 2 * (end - begin):
            size *= 2
        for place in range(size):
            join.table[place] = NONE
    join.figures[1] = size
    for index in range(begin, end):
        row = arenas.partitions[index]
        topic, group = topic_of(arenas, row.topic), group_of(arenas, row)
        at = _find(join, arenas, count, topic, row.partition, group)
        if at >= 0:
            join.rows[at] = index
            continue
        join.rows[count] = index
        join.taken[count] = 0
        if size:
            join.table[-1 - at] = count
        count += 1
    join.figures[0] = count
    return count


@kernel
def take(join: Join, arenas: Arenas, topic: int, partition: int, group: int) -> Any:
    """The row of the request for this answer, once; -1 for none."""
    at = _find(join, arenas, join.figures[0], topic, partition, group)
    if at < 0 or join.taken[at]:
        return NONE
    join.taken[at] = 1
    return join.rows[at]


@kernel
def _find(join: Join, arenas: Arenas, count: int, topic: int, partition: int, group: int) -> Any:
    """The key of that name; below zero it is not there, and -1 - place is free in the table."""
    size = join.figures[1]
    if not size:
        for at in range(count):
            if _is(arenas, join.rows[at], topic, partition, group):
                return at
        return NONE
    place = _place(join.figures[2], topic, partition, group) & (size - 1)
    while join.table[place] != NONE:
        at = join.table[place]
        if _is(arenas, join.rows[at], topic, partition, group):
            return at
        place = (place + 1) & (size - 1)
    return -1 - place


@kernel
def _is(arenas: Arenas, index: int, topic: int, partition: int, group: int) -> Any:
    row = arenas.partitions[index]
    if row.partition != partition or topic_of(arenas, row.topic) != topic:
        return False
    return group_of(arenas, row) == group


@kernel
def _place(seed: int, topic: int, partition: int, group: int) -> Any:
    mixed = np.uint64(seed) + np.uint64(topic) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29)) ^ np.uint64(group)) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(32)) ^ np.uint64(partition)) * np.uint64(0x94D049BB133111EB)
    return np.int64((mixed ^ (mixed >> np.uint64(31))) >> np.uint64(1))
