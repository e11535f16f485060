"""Responses whose request is not there, on connections in the arrays: what `Pairing.orphan` does.

The last of a connection hang together from `orphans_first` to `orphans_last`; their bytes lie in `orphan_heads`, behind
one another, until there is no room for more.
"""

from typing import Any

import numpy as np

from netdiag.traffic.engine.compiled.copying import copy
from netdiag.traffic.engine.compiled.kernel import kernel
from netdiag.traffic.engine.compiled.lane_state import FREE_ORPHAN, ORPHAN_HEADS, PAIRS, Array, Lane, more_orphans
from netdiag.traffic.engine.compiled.layout import DONE, FULL, NOTHING, OUTCOMES
from netdiag.traffic.engine.compiled.places import RANGES
from netdiag.traffic.engine.compiled.store import Store, has_room, new_facts
from netdiag.traffic.engine.pairing import MAX_ORPHANS, NO_REQUEST, ORPHAN_BYTES

SECOND = 1_000_000_000
"""Requests that began so long after a response came do not answer to it."""
_NO_REQUEST = OUTCOMES.index(NO_REQUEST)


@kernel
def keep_orphan(lane: Lane, store: Store, connection: Any, message: Any, data: Array, begin: Any) -> Any:
    """Keep a response, all of which is there from `begin` on; the oldest that is too much becomes a pair."""
    numbers, orphans = lane.numbers, lane.orphans
    kept = min(np.int64(message.size), ORPHAN_BYTES)
    head = numbers[ORPHAN_HEADS]
    if numbers[FREE_ORPHAN] == NOTHING or head + kept > len(lane.orphan_heads):
        return FULL
    if connection.orphans >= MAX_ORPHANS:
        if numbers[PAIRS] >= len(lane.pairs) or not has_room(store):
            return FULL
        _tell_oldest(lane, store, connection, message)
    entry = numbers[FREE_ORPHAN]
    orphan = orphans[entry]
    numbers[FREE_ORPHAN] = orphan.next
    numbers[ORPHAN_HEADS] = head + kept
    copy(lane.orphan_heads, head, data, begin, kept)
    orphan.head = head
    orphan.kept = kept
    orphan.size = message.size
    orphan.start_time = message.start_time
    orphan.end_time = message.end_time
    orphan.start_number = message.start_number
    orphan.end_number = message.end_number
    orphan.correlation_id = message.correlation_id
    orphan.file = message.file
    orphan.next = NOTHING
    if connection.orphans:
        orphans[connection.orphans_last].next = entry
    else:
        connection.orphans_first = entry
    connection.orphans_last = entry
    connection.orphans += 1
    _remember(connection, message)
    return DONE


@kernel
def _remember(connection: Any, message: Any) -> None:
    """Which requests may be that of one of them."""
    if connection.orphans_high < connection.orphans_low:
        connection.orphans_low = connection.orphans_high = message.correlation_id
    connection.orphans_until = max(connection.orphans_until, message.end_time + SECOND)
    connection.orphans_low = min(connection.orphans_low, np.int64(message.correlation_id))
    connection.orphans_high = max(connection.orphans_high, np.int64(message.correlation_id))


@kernel
def _tell_oldest(lane: Lane, store: Store, connection: Any, blank: Any) -> None:
    """A pair without a request, and nothing known of the body of its response."""
    orphan = lane.orphans[connection.orphans_first]
    number = new_facts(store)
    store.facts[number] = blank
    facts = store.facts[number]
    facts.size = orphan.size
    facts.start_time = orphan.start_time
    facts.end_time = orphan.end_time
    facts.start_number = orphan.start_number
    facts.end_number = orphan.end_number
    facts.correlation_id = orphan.correlation_id
    facts.file = orphan.file
    facts.connection = connection.context
    facts.api_key = facts.api_version = 0
    for arena in range(5):
        store.facts_words[number, RANGES + 2 * arena] = store.counts[arena]
        store.facts_words[number, RANGES + 2 * arena + 1] = store.counts[arena]
    pair = lane.pairs[lane.numbers[PAIRS]]
    lane.numbers[PAIRS] += 1
    pair.asked = NOTHING
    pair.answer = number
    pair.connection = connection.context
    pair.outcome = _NO_REQUEST
    freed = connection.orphans_first
    connection.orphans_first = orphan.next
    connection.orphans -= 1
    orphan.kept = NOTHING
    orphan.next = lane.numbers[FREE_ORPHAN]
    lane.numbers[FREE_ORPHAN] = freed


def with_room(lane: Lane, size: int = ORPHAN_BYTES) -> Lane:
    """The same with room for one more of them, of so many bytes."""
    if lane.numbers[FREE_ORPHAN] == NOTHING:
        lane = more_orphans(lane)
    if lane.numbers[ORPHAN_HEADS] + size > len(lane.orphan_heads):
        lane = _compacted(lane, size)
    return lane


def _compacted(lane: Lane, size: int) -> Lane:
    """Forget the bytes of those that are told."""
    held = np.flatnonzero(lane.orphans["kept"] >= 0)
    begins, sizes = lane.orphans["head"][held], lane.orphans["kept"][held].astype(np.int64)
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    room = len(lane.orphan_heads)
    while room < 2 * (total + size):
        room *= 2
    heads = np.zeros(room, np.uint8)
    heads[:total] = lane.orphan_heads[np.repeat(begins - (ends - sizes), sizes) + np.arange(total)]
    lane.orphans["head"][held] = ends - sizes
    lane.numbers[ORPHAN_HEADS] = total
    return lane._replace(orphan_heads=heads)
