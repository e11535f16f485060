"""The arenas that messages are read into: arrays that grow in Python, and are filled by kernels.

A message's topics, partitions, batches, forgotten partitions and endpoints lie behind one another in the arena of that
name, `facts` says from where to where. Raw bytes of messages and texts on their way lie in `raw`. Each arena is used
from its start to its number in `counts`.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from netdiag.traffic.engine.compiled import strings as texts
from netdiag.traffic.engine.compiled.kernel import inlined
from netdiag.traffic.engine.compiled.layout import BATCH, ENDPOINT, FACTS, FORGOTTEN, PARTITION
from netdiag.traffic.engine.compiled.strings import Strings

Array = npt.NDArray[Any]

ARENAS = ("topics", "partitions", "batches", "forgotten", "endpoints", "raw", "facts")
TOPICS, PARTITIONS, BATCHES, FORGOTTEN_ONES, ENDPOINTS, RAW, MESSAGES = range(len(ARENAS))
LACKING, LACKING_SIZE = len(ARENAS), len(ARENAS) + 1
"""Behind the numbers of `counts`: which arena is too small (TEXTS: the strings), and how much it must hold more."""
TEXTS = len(ARENAS)
MARGIN = 1 << 9
"""What one step of a machine adds to an arena at most, and some more: so much is always free when a message begins."""
_MOST_SPARE = 1 << 15
_STEP = 1 << 12


class Store(NamedTuple):
    """All that was read. `..._words`, `..._longs`: the same memory as rows of numbers of 4 and of 8 bytes."""

    counts: Array
    topics: Array
    partitions: Array
    batches: Array
    forgotten: Array
    endpoints: Array
    raw: Array
    facts: Array
    facts_words: Array
    partition_words: Array
    partition_longs: Array
    endpoint_words: Array
    strings: Strings
    ids: Strings


def store(size: int = 1 << 13, raw: int = 1 << 21) -> Store:
    """An empty store with room for so many messages, rows of each kind, and raw bytes."""
    arrays: dict[str, Array] = {
        "topics": np.zeros(size, np.int32),
        "partitions": np.zeros(size, PARTITION),
        "batches": np.zeros(size, BATCH),
        "forgotten": np.zeros(size, FORGOTTEN),
        "endpoints": np.zeros(size, ENDPOINT),
        "raw": np.zeros(raw, np.uint8),
        "facts": np.zeros(size, FACTS),
    }
    return _of(np.zeros(len(ARENAS) + 2, np.int64), arrays, texts.strings(), texts.strings(1 << 10, 1 << 14))


def as_large(old: Store, unused: Store | None = None) -> Store:
    """An empty store as large as another one, with its texts; of the arrays of one that nobody needs where they are."""
    arrays = {}
    for name in ARENAS:
        array, known = getattr(old, name), None if unused is None else getattr(unused, name)
        arrays[name] = np.zeros(len(array), array.dtype) if known is None or len(known) < len(array) else known
    return _of(np.zeros_like(old.counts), arrays, old.strings, old.ids)


def is_mostly_kept(store: Store) -> bool:
    """Whether there is little room after what nobody needs was forgotten: it would have to be forgotten often."""
    return any(len(getattr(store, name)) < _enough(int(store.counts[number])) for number, name in enumerate(ARENAS))


def _enough(used: int) -> int:
    return used + max(used, min(3 * used, _MOST_SPARE))


def grown(old: Store) -> Store:
    """The same with room for as many again as are kept, or more, and for what was said to be too small."""
    arrays = {}
    lacking, more = int(old.counts[LACKING]), int(old.counts[LACKING_SIZE])
    for number, name in enumerate(ARENAS):
        array, used = getattr(old, name), int(old.counts[number])
        needed = used + MARGIN + (more if more and number == lacking else 0)
        size = len(array)
        # No more than it takes: a message that waits keeps its place, and there may be tens of thousands.
        size = max(size, -(-max(_enough(used), needed + MARGIN) // _STEP) * _STEP)
        arrays[name] = _longer(array, used, size)
    counts = old.counts.copy()
    counts[LACKING_SIZE] = 0
    wanted = more if lacking == TEXTS else 0
    return _of(counts, arrays, _wider(old.strings, wanted), _wider(old.ids, wanted))


def _wider(table: Strings, more: int) -> Strings:
    """Room for `more` bytes, however many texts they may be."""
    count = int(table.counts[0])
    used = int(table.bounds[count])
    room, size = len(table.bounds) - 1, len(table.data)
    while room < 2 * count + MARGIN or room < count + more + 2 * MARGIN:
        room *= 2
    while size < 2 * used or size < used + texts.LONGEST_ADDED * more + 32 * MARGIN:
        size *= 2
    return texts.grown(table, room, size) if (room, size) != (len(table.bounds) - 1, len(table.data)) else table


def _longer(array: Array, used: int, size: int) -> Array:
    if size == len(array):
        return array
    longer = np.zeros(size, array.dtype)
    longer[:used] = array[:used]
    return longer


def _of(counts: Array, arrays: dict[str, Array], names: Strings, ids: Strings) -> Store:
    facts, partitions, endpoints = arrays["facts"], arrays["partitions"], arrays["endpoints"]
    return Store(
        counts=counts,
        **arrays,
        facts_words=facts.view(np.int32).reshape(len(facts), -1),
        partition_words=partitions.view(np.int32).reshape(len(partitions), -1),
        partition_longs=partitions.view(np.int64).reshape(len(partitions), -1),
        endpoint_words=endpoints.view(np.int32).reshape(len(endpoints), -1),
        strings=names,
        ids=ids,
    )


@inlined
def has_room(store: Store) -> bool:
    """Whether a message may begin, or end; to be asked before each."""
    room: bool = (
        store.counts[0] + MARGIN <= len(store.topics)
        and store.counts[1] + MARGIN <= len(store.partitions)
        and store.counts[2] + MARGIN <= len(store.batches)
        and store.counts[3] + MARGIN <= len(store.forgotten)
        and store.counts[4] + MARGIN <= len(store.endpoints)
        and store.counts[5] + MARGIN <= len(store.raw)
        and store.counts[6] + MARGIN <= len(store.facts)
        and store.strings.counts[0] + MARGIN < len(store.strings.bounds)
        and store.ids.counts[0] + MARGIN < len(store.ids.bounds)
        and store.ids.bounds[store.ids.counts[0]] + 16 * MARGIN <= len(store.ids.data)
    )
    return room


@inlined
def new_facts(store: Store) -> int:
    """The number of a new message; there is room, see `has_room`."""
    number: int = store.counts[6]
    if number >= len(store.facts):
        return -1
    store.counts[6] = number + 1
    return number
