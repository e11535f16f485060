"""The offsets that are in force in fetch sessions, in arrays: what `engine.sessions` does, for kernels.

A session has a slot, its partitions are entries of one pool, in the chain of a bucket and in that of the session.
`begin` follows a Fetch and its answer, `offset_of` then says what a partition was fetched from, `end` forgets what is
too much. There must be room: `has_room` before `begin`, and `grown` in between when there is none.
"""

import secrets
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from netdiag.traffic.engine.compiled.arenas import Arenas
from netdiag.traffic.engine.compiled.joining import topic_of
from netdiag.traffic.engine.compiled.kernel import kernel
from netdiag.traffic.engine.compiled.layout import SCALARS
from netdiag.traffic.engine.sessions import MOST_PARTITIONS, MOST_SESSIONS

Numbers = npt.NDArray[Any]

NONE = -1
ENTRY = np.dtype(
    [
        ("offset", "i8"),
        ("session", "i4"),
        ("topic", "i4"),
        ("partition", "i4"),
        ("chain", "i4"),
        ("before", "i4"),
        ("after", "i4"),
    ],
    align=True,
)
"""An offset in force. `chain`: the next of its bucket; `before` and `after`: the others of its session."""

SESSION = np.dtype(
    [
        ("broker", "i4"),
        ("number", "i4"),
        ("first", "i4"),
        ("partitions", "i4"),
        ("chain", "i4"),
        ("older", "i4"),
        ("newer", "i4"),
        ("is_kept", "u1"),
    ],
    align=True,
)
FREE_ENTRY, USED_ENTRIES, FREE_SESSION, OLDEST, NEWEST, SESSIONS, PARTITIONS, MOST_S, MOST_P, SEED = range(10)

_SESSION_ID = np.uint32(1 << SCALARS.index("session_id"))
_EPOCH = np.uint32(1 << SCALARS.index("session_epoch"))
_HAS_OFFSET = np.uint32(1 << 4)
_NO_SESSION = 0
_FIRST, _LAST = 0, -1


class Sessions(NamedTuple):
    """`figures` are the numbers named above; the buckets are a power of two."""

    entries: Numbers
    entry_buckets: Numbers
    sessions: Numbers
    session_buckets: Numbers
    figures: Numbers


def new_sessions(most_sessions: int = MOST_SESSIONS, most_partitions: int = MOST_PARTITIONS) -> Sessions:
    """No sessions yet, and room for some."""
    sessions = np.zeros(most_sessions + 2, SESSION)
    sessions["chain"] = np.arange(1, len(sessions) + 1)
    sessions["chain"][-1] = NONE
    figures = np.zeros(10, np.int64)
    figures[[FREE_ENTRY, OLDEST, NEWEST]] = NONE
    figures[MOST_S], figures[MOST_P] = most_sessions, most_partitions
    # Nobody can make a capture whose partitions all fall into one bucket.
    figures[SEED] = secrets.randbits(62)
    buckets = 1 << max(4, (2 * most_sessions).bit_length())
    empty = Sessions(
        np.zeros(0, ENTRY), np.full(16, NONE, np.int32), sessions, np.full(buckets, NONE, np.int32), figures
    )
    return grown(empty, 1024)


def grown(sessions: Sessions, room: int) -> Sessions:
    """The same with room for so many more partitions."""
    old = sessions.entries
    size = max(2 * len(old), len(old) + room)
    entries = np.zeros(size, ENTRY)
    entries[: len(old)] = old
    buckets = np.full(1 << size.bit_length(), NONE, np.int32)
    sessions.figures[FREE_ENTRY] = _threaded(entries, len(old), int(sessions.figures[FREE_ENTRY]))
    larger = sessions._replace(entries=entries, entry_buckets=buckets)
    _chained(larger)
    return larger


def numbers_used(sessions: Sessions) -> tuple[list[int], list[int]]:
    """The numbers of texts and of topic ids that sessions know."""
    topics = np.empty(sessions.figures[USED_ENTRIES], np.int32)
    brokers = np.empty(sessions.figures[SESSIONS], np.int32)
    _used(sessions, topics, brokers)
    texts = np.unique(np.concatenate([topics[topics >= 0], brokers]))
    return texts.tolist(), (-2 - np.unique(topics[topics < 0])).tolist()


def renumbered(sessions: Sessions, texts: Numbers, ids: Numbers) -> None:
    """Texts and topic ids have other numbers now: `texts[n]` is that of text n."""
    _renumber(sessions, texts, ids)


@kernel
def _used(all_of_it: Sessions, topics: Numbers, brokers: Numbers) -> None:
    count = known = 0
    session = all_of_it.figures[OLDEST]
    while session != NONE:
        one = all_of_it.sessions[session]
        brokers[known] = one.broker
        known += 1
        at = one.first
        while at != NONE:
            topics[count] = all_of_it.entries[at].topic
            count += 1
            at = all_of_it.entries[at].after
        session = one.newer


@kernel
def _threaded(entries: Numbers, begin: int, free: int) -> Any:
    for index in range(begin, len(entries)):
        entries[index].after = free
        free = index
    return free


@kernel
def _chained(all_of_it: Sessions) -> None:
    entries, buckets = all_of_it.entries, all_of_it.entry_buckets
    for bucket in range(len(buckets)):
        buckets[bucket] = NONE
    session = all_of_it.figures[OLDEST]
    while session != NONE:
        at = all_of_it.sessions[session].first
        while at != NONE:
            entry = entries[at]
            bucket = _bucket(all_of_it.figures[SEED], session, entry.topic, entry.partition, len(buckets))
            entry.chain = buckets[bucket]
            buckets[bucket] = at
            at = entry.after
        session = all_of_it.sessions[session].newer


@kernel
def _renumber(all_of_it: Sessions, texts: Numbers, ids: Numbers) -> None:
    sessions, session_buckets = all_of_it.sessions, all_of_it.session_buckets
    for place in range(len(session_buckets)):
        session_buckets[place] = NONE
    session = all_of_it.figures[OLDEST]
    while session != NONE:
        one = sessions[session]
        one.broker = texts[one.broker]
        bucket = _bucket(all_of_it.figures[SEED], one.broker, one.number, 0, len(session_buckets))
        one.chain = session_buckets[bucket]
        session_buckets[bucket] = session
        at = one.first
        while at != NONE:
            entry = all_of_it.entries[at]
            if entry.topic >= 0:
                entry.topic = texts[entry.topic]
            else:
                entry.topic = -2 - ids[-2 - entry.topic]
            at = entry.after
        session = one.newer
    _chained(all_of_it)


@kernel
def has_room(sessions: Sessions, partitions: int) -> Any:
    """Whether a request with so many partitions can be followed."""
    return len(sessions.entries) - sessions.figures[USED_ENTRIES] >= partitions


@kernel
def begin(sessions: Sessions, broker: int, arenas: Arenas, asked: Any, told: int) -> int:
    """Follow a Fetch; `told` is the session id of the answer, -1 below int32 where it says none. Gives the slot."""
    number = asked.session_id if asked.present & _SESSION_ID else _NO_SESSION
    epoch = asked.session_epoch
    slot = NONE
    if number != _NO_SESSION:
        slot = _find(sessions, broker, number)
        if slot != NONE:
            _unlink(sessions, slot)
    if slot == NONE:
        slot = _new(sessions)
    elif epoch in (_FIRST, _LAST):
        _empty(sessions, slot)
    for index in range(asked.partitions[0], asked.partitions[1]):
        row = arenas.partitions[index]
        if row.present & _HAS_OFFSET:
            _put(sessions, slot, topic_of(arenas, row.topic), row.partition, row.offset)
    for index in range(asked.forgotten[0], asked.forgotten[1]):
        gone = arenas.forgotten[index]
        _forget(sessions, slot, topic_of(arenas, gone.topic), gone.partition)
    following = told if told >= -(1 << 31) else number
    if following != _NO_SESSION and epoch != _LAST:
        other = _find(sessions, broker, following)
        if other != NONE:
            _unlink(sessions, other)
            _drop(sessions, other)
        _link(sessions, slot, broker, following)
    return slot


@kernel
def offset_of(sessions: Sessions, slot: int, topic: int, partition: int) -> Any:
    """The place of a partition among the entries, -1 where none is in force."""
    buckets = sessions.entry_buckets
    at = buckets[_bucket(sessions.figures[SEED], slot, topic, partition, len(buckets))]
    while at != NONE:
        entry = sessions.entries[at]
        if entry.session == slot and entry.topic == topic and entry.partition == partition:
            return at
        at = entry.chain
    return NONE


@kernel
def end(sessions: Sessions, slot: int) -> None:
    """The rows of that Fetch are made."""
    if not sessions.sessions[slot].is_kept:
        _drop(sessions, slot)
    figures = sessions.figures
    while figures[SESSIONS] and (figures[SESSIONS] > figures[MOST_S] or figures[PARTITIONS] > figures[MOST_P]):
        oldest = figures[OLDEST]
        _unlink(sessions, oldest)
        _drop(sessions, oldest)


@kernel
def _bucket(seed: int, one: int, two: int, three: int, buckets: int) -> Any:
    mixed = np.uint64(seed) + np.uint64(one) * np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(two) * np.uint64(
        0xC2B2AE3D27D4EB4F
    )
    mixed = (mixed ^ (mixed >> np.uint64(29)) ^ np.uint64(three)) * np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    mixed = mixed * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(29)
    return np.int64(mixed & np.uint64(buckets - 1))


@kernel
def _find(all_of_it: Sessions, broker: int, number: int) -> Any:
    buckets = all_of_it.session_buckets
    at = buckets[_bucket(all_of_it.figures[SEED], broker, number, 0, len(buckets))]
    while at != NONE:
        session = all_of_it.sessions[at]
        if session.broker == broker and session.number == number:
            return at
        at = session.chain
    return NONE


@kernel
def _new(all_of_it: Sessions) -> Any:
    slot = all_of_it.figures[FREE_SESSION]
    session = all_of_it.sessions[slot]
    all_of_it.figures[FREE_SESSION] = session.chain
    session.first = NONE
    session.partitions = 0
    session.is_kept = 0
    return slot


@kernel
def _link(all_of_it: Sessions, slot: int, broker: int, number: int) -> None:
    """Keep it as the one that was used last."""
    figures, sessions, buckets = all_of_it.figures, all_of_it.sessions, all_of_it.session_buckets
    session = sessions[slot]
    session.broker = broker
    session.number = number
    session.is_kept = 1
    bucket = _bucket(all_of_it.figures[SEED], broker, number, 0, len(buckets))
    session.chain = buckets[bucket]
    buckets[bucket] = slot
    newest = figures[NEWEST]
    session.older = newest
    session.newer = NONE
    if newest == NONE:
        figures[OLDEST] = slot
    else:
        sessions[newest].newer = slot
    figures[NEWEST] = slot
    figures[SESSIONS] += 1
    figures[PARTITIONS] += session.partitions


@kernel
def _unlink(all_of_it: Sessions, slot: int) -> None:
    figures, sessions, buckets = all_of_it.figures, all_of_it.sessions, all_of_it.session_buckets
    session = sessions[slot]
    session.is_kept = 0
    bucket = _bucket(all_of_it.figures[SEED], session.broker, session.number, 0, len(buckets))
    at = buckets[bucket]
    if at == slot:
        buckets[bucket] = session.chain
    else:
        while sessions[at].chain != slot:
            at = sessions[at].chain
        sessions[at].chain = session.chain
    if session.older == NONE:
        figures[OLDEST] = session.newer
    else:
        sessions[session.older].newer = session.newer
    if session.newer == NONE:
        figures[NEWEST] = session.older
    else:
        sessions[session.newer].older = session.older
    figures[SESSIONS] -= 1
    figures[PARTITIONS] -= session.partitions


@kernel
def _drop(all_of_it: Sessions, slot: int) -> None:
    _empty(all_of_it, slot)
    all_of_it.sessions[slot].chain = all_of_it.figures[FREE_SESSION]
    all_of_it.figures[FREE_SESSION] = slot


@kernel
def _empty(all_of_it: Sessions, slot: int) -> None:
    session = all_of_it.sessions[slot]
    while session.first != NONE:
        _take(all_of_it, slot, session.first)


@kernel
def _put(all_of_it: Sessions, slot: int, topic: int, partition: int, offset: int) -> None:
    at = offset_of(all_of_it, slot, topic, partition)
    if at != NONE:
        all_of_it.entries[at].offset = offset
        return
    figures, buckets, session = all_of_it.figures, all_of_it.entry_buckets, all_of_it.sessions[slot]
    at = figures[FREE_ENTRY]
    entry = all_of_it.entries[at]
    figures[FREE_ENTRY] = entry.after
    figures[USED_ENTRIES] += 1
    bucket = _bucket(all_of_it.figures[SEED], slot, topic, partition, len(buckets))
    entry.offset = offset
    entry.session = slot
    entry.topic = topic
    entry.partition = partition
    entry.chain = buckets[bucket]
    buckets[bucket] = at
    entry.before = NONE
    entry.after = session.first
    if session.first != NONE:
        all_of_it.entries[session.first].before = at
    session.first = at
    session.partitions += 1


@kernel
def _forget(all_of_it: Sessions, slot: int, topic: int, partition: int) -> None:
    at = offset_of(all_of_it, slot, topic, partition)
    if at != NONE:
        _take(all_of_it, slot, at)


@kernel
def _take(all_of_it: Sessions, slot: int, at: int) -> None:
    entries, buckets, figures = all_of_it.entries, all_of_it.entry_buckets, all_of_it.figures
    session = all_of_it.sessions[slot]
    entry = entries[at]
    bucket = _bucket(all_of_it.figures[SEED], slot, entry.topic, entry.partition, len(buckets))
    other = buckets[bucket]
    if other == at:
        buckets[bucket] = entry.chain
    else:
        while entries[other].chain != at:
            other = entries[other].chain
        entries[other].chain = entry.chain
    if entry.before == NONE:
        session.first = entry.after
    else:
        entries[entry.before].after = entry.after
    if entry.after != NONE:
        entries[entry.after].before = entry.before
    entry.after = figures[FREE_ENTRY]
    figures[FREE_ENTRY] = at
    figures[USED_ENTRIES] -= 1
    session.partitions -= 1
