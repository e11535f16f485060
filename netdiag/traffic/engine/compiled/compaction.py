"""Forget what was read and nobody needs any more: what is left moves to the front of its arena, under new numbers."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from netdiag.traffic.engine.compiled import strings as texts
from netdiag.traffic.engine.compiled.copying import copy
from netdiag.traffic.engine.compiled.kernel import inlined, kernel
from netdiag.traffic.engine.compiled.layout import NOTHING, TEXTS, topic_id
from netdiag.traffic.engine.compiled.machines import (
    BUFFER,
    BUFFERED,
    GROUP,
    IDLE,
    LIMITS,
    MESSAGE,
    STATUS,
    TOPIC,
    Machines,
)
from netdiag.traffic.engine.compiled.places import RANGES
from netdiag.traffic.engine.compiled.store import ARENAS, MESSAGES, RAW, Array, Store
from netdiag.traffic.engine.compiled.strings import Strings

Numbers = npt.NDArray[np.int64]
CROWDED_TEXTS, CROWDED_BYTES = 1 << 20, 1 << 26
"""From so many texts on they should be sorted out."""
_NAMES = ("topics", "partitions", "batches", "forgotten", "endpoints")
_TEXT_COLUMNS = {
    "facts": ("client_id", *sorted(TEXTS)),
    "partitions": ("topic", "group"),
    "batches": ("topic",),
    "forgotten": ("topic",),
    "endpoints": ("host", "rack"),
}


class Moved(NamedTuple):
    """A store without what nobody needs, and the new numbers by the old ones: NOTHING for what is gone.

    `strings` and `ids` are None where these kept their numbers.
    """

    store: Store
    facts: Numbers
    strings: Numbers | None
    ids: Numbers | None


def is_crowded(store: Store) -> bool:
    """Whether there are so many texts that those without a use should go."""
    return any(
        int(table.counts[0]) > CROWDED_TEXTS or int(table.bounds[table.counts[0]]) > CROWDED_BYTES
        for table in (store.strings, store.ids)
    )


def compacted(
    store: Store, kept: Numbers, machines: Machines, strings: bool = False, into: Store | None = None
) -> Moved:
    """Keep these messages and those that machines are reading; the arrays stay, what lies in them moves.

    With `strings`, texts that none of them has go, too, and the others are numbered anew. They move into the arrays of
    `into` where there is one, which must be as large: then `store` stays what it was.
    """
    into = store if into is None else into
    busy = np.flatnonzero(machines.state[:, STATUS] != IDLE)
    kept = np.sort(np.concatenate([np.asarray(kept, np.int64), machines.state[busy, MESSAGE]]))
    kept = kept[np.diff(kept, prepend=NOTHING) > 0]
    numbers = np.full(int(store.counts[MESSAGES]), NOTHING, np.int64)
    totals = np.zeros(RAW + 1, np.int64)
    if not len(busy) and (into is not store or is_in_order(store, kept, totals)):
        totals[:] = 0
        move(store, into, kept, numbers, totals)
        into.counts[: RAW + 1] = totals
        into.counts[MESSAGES] = len(kept)
    else:
        _rearranged(store, into, kept, numbers, machines, busy)
    if not strings:
        return Moved(into, numbers, None, None)
    return _sorted_out(into, numbers, machines, busy)


@kernel
def is_in_order(store: Store, kept: Numbers, totals: Numbers) -> bool:
    """Whether all that these messages have may move to the front in their order, none of it into another's way."""
    words = store.facts_words
    for index in range(len(kept)):
        for arena in range(RAW):
            begin = words[kept[index], RANGES + 2 * arena]
            size = words[kept[index], RANGES + 2 * arena + 1] - begin
            if size > 0 and begin < totals[arena]:
                return False
            totals[arena] += size
        facts = store.facts[kept[index]]
        if facts.raw >= 0:
            if facts.raw < totals[RAW]:
                return False
            totals[RAW] += facts.raw_size
    return True


@kernel
def move(store: Store, into: Store, kept: Numbers, numbers: Numbers, totals: Numbers) -> None:
    """Move messages and what they have; `totals` say how much of each arena is used, `numbers` the new ones."""
    words = into.facts_words
    for index in range(len(kept)):
        numbers[kept[index]] = index
        into.facts[index] = store.facts[kept[index]]
        for arena in range(RAW):
            begin, end = words[index, RANGES + 2 * arena], words[index, RANGES + 2 * arena + 1]
            words[index, RANGES + 2 * arena] = totals[arena]
            for row in range(begin, end):
                _move_row(store, into, arena, row, totals[arena])
                totals[arena] += 1
            words[index, RANGES + 2 * arena + 1] = totals[arena]
        facts = into.facts[index]
        if facts.raw >= 0:
            copy(into.raw, totals[RAW], store.raw, facts.raw, facts.raw_size)
            facts.raw = totals[RAW]
            totals[RAW] += facts.raw_size


@inlined
def _move_row(store: Store, into: Store, arena: int, row: Any, to: Any) -> None:
    if arena == 0:
        into.topics[to] = store.topics[row]
    elif arena == 1:
        into.partitions[to] = store.partitions[row]
    elif arena == 2:
        into.batches[to] = store.batches[row]
    elif arena == 3:
        into.forgotten[to] = store.forgotten[row]
    else:
        into.endpoints[to] = store.endpoints[row]


def _rearranged(store: Store, into: Store, kept: Numbers, numbers: Numbers, machines: Machines, busy: Numbers) -> None:
    """The same where machines hold something, or what messages have is in another order than they are."""
    numbers[kept] = np.arange(len(kept))
    facts = store.facts[kept]
    for arena, name in enumerate(_NAMES):
        column = facts[name]
        begins = column[:, 0].astype(np.int64)
        sizes = column[:, 1] - begins
        column[:, 0], column[:, 1] = _pulled(store, into, arena, begins, sizes)
    _pull_raw(store, into, facts, machines, busy)
    into.facts[: len(kept)] = facts
    into.counts[MESSAGES] = len(kept)
    machines.state[busy, MESSAGE] = numbers[machines.state[busy, MESSAGE]]
    for arena, name in enumerate(_NAMES):
        machines.state[busy, LIMITS + arena] = into.facts[name][machines.state[busy, MESSAGE], 1]


def _pulled(store: Store, into: Store, arena: int, begins: Numbers, sizes: Numbers) -> tuple[Numbers, Numbers]:
    """Move pieces of an arena to the front of it; gives where they begin and end then."""
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    if total:
        pieces = np.repeat(begins - (ends - sizes), sizes) + np.arange(total)
        getattr(into, ARENAS[arena])[:total] = getattr(store, ARENAS[arena])[pieces]
    into.counts[arena] = total
    return ends - sizes, ends


def _pull_raw(store: Store, into: Store, facts: Array, machines: Machines, busy: Numbers) -> None:
    """Raw bytes of messages, and those that machines hold."""
    state = machines.state
    mine = np.flatnonzero(facts["raw"] >= 0)
    begins = np.concatenate([facts["raw"][mine], state[busy, BUFFER]]).astype(np.int64)
    sizes = np.concatenate([facts["raw_size"][mine], state[busy, BUFFERED]]).astype(np.int64)
    begins, ends = _pulled(store, into, RAW, begins, sizes)
    facts["raw"][mine] = begins[: len(mine)]
    state[busy, BUFFER] = begins[len(mine) :]
    state[busy, LIMITS + RAW] = ends[len(mine) :]


def _sorted_out(store: Store, numbers: Numbers, machines: Machines, busy: Numbers) -> Moved:
    """Number the texts anew."""
    columns = [store.topics[: store.counts[0]]]
    for name, fields in _TEXT_COLUMNS.items():
        rows = getattr(store, name)[: store.counts[ARENAS.index(name)]]
        columns += [rows[field] for field in fields]
    columns += [machines.state[busy, TOPIC], machines.state[busy, GROUP]]
    used = np.unique(np.concatenate([column.astype(np.int64) for column in columns]))
    names, by_name = _selected(store.strings, used[used >= 0])
    ids, by_id = _selected(store.ids, np.sort(topic_id(0) - used[used < NOTHING]))
    for column in columns[:-2]:
        column[:] = _renumbered(column, by_name, by_id)
    for field, column in ((TOPIC, columns[-2]), (GROUP, columns[-1])):
        machines.state[busy, field] = _renumbered(column, by_name, by_id)
    return Moved(store._replace(strings=names, ids=ids), numbers, by_name, by_id)


def _selected(table: Strings, used: Numbers) -> tuple[Strings, Numbers]:
    numbers = np.full(int(table.counts[0]), NOTHING, np.int64)
    numbers[used] = np.arange(len(used))
    return texts.selected(table, used), numbers


def _renumbered(column: Array, by_name: Numbers, by_id: Numbers) -> Numbers:
    new = column.astype(np.int64)
    named, with_id = new >= 0, new < NOTHING
    new[named] = by_name[new[named]]
    new[with_id] = topic_id(0) - by_id[topic_id(0) - new[with_id]]
    return new
