"""Forget what was read and nobody needs any more: what is left moves to the front of its arena, under new numbers."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from netdiag.traffic.engine.compiled import strings as texts
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
    if not strings:
        return Moved(into, numbers, None, None)
    return _sorted_out(into, numbers, machines, busy)


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
