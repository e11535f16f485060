"""What a message changes on a calm connection: what `Talk` and `Pairing` do about an ordinary one.

Each gives DONE and has changed everything, or another status and nothing.
"""

from typing import Any

import numpy as np

from netdiag.traffic.engine.compiled.interpreter import begin as begin_message
from netdiag.traffic.engine.compiled.interpreter import end as end_message
from netdiag.traffic.engine.compiled.interpreter import feed, lost
from netdiag.traffic.engine.compiled.kernel import kernel
from netdiag.traffic.engine.compiled.lane_state import (
    DIGESTED_BYTES,
    DIGESTS,
    FREE_PENDING,
    KEYS,
    PAIRS,
    VERSIONS,
    WHOLE,
    Array,
    Lane,
    Reading,
)
from netdiag.traffic.engine.compiled.layout import DONE, FULL, NOTHING, ODD_REST, OUTCOMES
from netdiag.traffic.engine.compiled.machines import IDLE, STATUS
from netdiag.traffic.engine.compiled.store import has_room, new_facts
from netdiag.traffic.engine.pairing import DIGESTED, MAX_PENDING
from netdiag.traffic.engine.talk import WAITING

ANSWERED, NO_RESPONSE, UNANSWERED = (OUTCOMES.index(name) for name in ("answered", "no-response", "unanswered"))
_CONTROLLED_SHUTDOWN, _SASL_HANDSHAKE, _API_VERSIONS = 7, 17, 18
_HEAD = 10


@kernel
def number_at(data: Array, at: Any) -> Any:
    """The four bytes at a place as a number with a sign."""
    value = np.int64(data[at]) << 24 | np.int64(data[at + 1]) << 16 | np.int64(data[at + 2]) << 8 | data[at + 3]
    return value - (1 << 32) if value >= 1 << 31 else value


@kernel
def short_at(data: Array, at: Any) -> Any:
    """The two bytes at a place as a number with a sign."""
    value = np.int64(data[at]) << 8 | data[at + 1]
    return value - (1 << 16) if value >= 1 << 15 else value


@kernel
def request(lane: Lane, reading: Reading, slot: Any, data: Array, begin: Any, end: Any, message: Any) -> Any:
    """A request whose bytes behind the size field are there from `begin` to `end`; `message` is its row of FACTS."""
    connection = lane.connections[slot]
    if end - begin < _HEAD:
        return ODD_REST
    correlation = number_at(data, begin + 4)
    is_orphans = connection.orphans_low <= correlation and correlation <= connection.orphans_high
    if is_orphans and message.start_time <= connection.orphans_until:
        return ODD_REST
    key, version = short_at(data, begin), short_at(data, begin + 2)
    if key < 0 or key >= KEYS or version < 0 or version >= VERSIONS:
        return ODD_REST
    if key in (_CONTROLLED_SHUTDOWN, _SASL_HANDSHAKE, _API_VERSIONS):
        return ODD_REST
    if not connection.has_client_id and short_at(data, begin + 8) >= 0:
        return ODD_REST
    numbers = lane.numbers
    free = numbers[FREE_PENDING]
    if free == NOTHING or numbers[PAIRS] >= len(lane.pairs):
        return FULL
    message.correlation_id = correlation
    message.api_key = key
    message.api_version = version
    at = _store(lane, reading, slot, data, begin, end, message)
    if at < 0:
        return FULL
    lane.versions[slot, key] = version
    connection.last_request = correlation
    connection.asked += 1
    connection.requests += 1
    entry = lane.pending[free]
    numbers[FREE_PENDING] = entry.next
    entry.asked = at
    entry.correlation_id = correlation
    entry.api = key << 16 | version
    entry.next = NOTHING
    entry.silent = 0
    if connection.pending:
        if correlation <= lane.pending[connection.pending_last].correlation_id:
            connection.unsorted = 1
        lane.pending[connection.pending_last].next = free
    else:
        connection.unsorted = 0
        connection.pending_first = free
    connection.pending_last = free
    connection.pending += 1
    if connection.pending > MAX_PENDING:
        _give_up(lane, slot)
    return DONE


@kernel
def response(lane: Lane, reading: Reading, slot: Any, data: Array, begin: Any, end: Any, message: Any) -> Any:
    """The same of a response."""
    connection = lane.connections[slot]
    if end - begin < 4:
        return ODD_REST
    correlation = number_at(data, begin)
    entry = connection.pending_first
    before = 0
    while entry != NOTHING and lane.pending[entry].correlation_id != correlation:
        is_past = not connection.unsorted and lane.pending[entry].correlation_id > correlation
        entry = NOTHING if is_past else lane.pending[entry].next
        before += 1
    if entry == NOTHING or (connection.unsorted and before < connection.pending - WAITING):
        return ODD_REST
    numbers = lane.numbers
    if numbers[PAIRS] + before + 1 > len(lane.pairs):
        return FULL
    api = lane.pending[entry].api
    message.correlation_id = correlation
    message.api_key = api >> 16
    message.api_version = api & 0xFFFF
    at = _store(lane, reading, slot, data, begin, end, message)
    if at < 0:
        return FULL
    for _ in range(before):
        _give_up(lane, slot)
    connection.responses += 1
    connection.last_response = correlation
    _pair(lane, slot, lane.pending[entry].asked, at, ANSWERED)
    _take(lane, slot)
    return DONE


@kernel
def _store(lane: Lane, reading: Reading, slot: Any, data: Array, begin: Any, end: Any, message: Any) -> Any:
    """Read a message, and keep its beginning for the digest; gives its number, below 0 where there is no room."""
    store = reading.store
    is_request = message.is_request
    connection = lane.connections[slot]
    is_early = (connection.requests if is_request else connection.responses) < DIGESTED
    if (is_early and lane.numbers[DIGESTS] >= len(lane.digests)) or not has_room(store):
        return -1
    for arena in range(len(lane.saved)):
        lane.saved[arena] = store.counts[arena]
    message.connection = connection.context
    number = new_facts(store)
    store.facts[number] = message
    if not _read(reading, number, message, data, begin, end):
        reading.machines.state[WHOLE, STATUS] = IDLE
        for arena in range(len(lane.saved)):
            store.counts[arena] = lane.saved[arena]
        return -1
    if is_early:
        _digest(lane, slot, message, data, begin, end)
    return number


@kernel
def _read(reading: Reading, number: Any, message: Any, data: Array, begin: Any, end: Any) -> Any:
    """Have a machine read a message; False where there is no room for what it tells."""
    store, machines, programs = reading.store, reading.machines, reading.programs
    known = 8 if message.is_request else 4
    size = np.int64(message.size)
    begin_message(
        store,
        machines,
        WHOLE,
        programs,
        number,
        message.is_request != 0,
        int(message.api_key),
        int(message.api_version),
        int(size - known),
    )
    if feed(store, machines, WHOLE, programs, data, begin + known, end) < end or not has_room(store):
        return False
    if end - begin < size:
        lost(store, machines, WHOLE, programs, size - (end - begin))
        if not has_room(store):
            return False
    end_message(store, machines, WHOLE, programs)
    return True


@kernel
def _digest(lane: Lane, slot: Any, message: Any, data: Array, begin: Any, end: Any) -> None:
    digest = lane.digests[lane.numbers[DIGESTS]]
    lane.numbers[DIGESTS] += 1
    digest.slot = slot
    digest.size = message.size
    digest.is_request = message.is_request
    digest.length = min(end - begin, DIGESTED_BYTES)
    for index in range(digest.length):
        digest.head[index] = data[begin + index]


@kernel
def _pair(lane: Lane, slot: Any, asked: Any, answer: Any, outcome: Any) -> None:
    pair = lane.pairs[lane.numbers[PAIRS]]
    lane.numbers[PAIRS] += 1
    pair.asked = asked
    pair.answer = answer
    pair.connection = lane.connections[slot].context
    pair.outcome = outcome


@kernel
def _take(lane: Lane, slot: Any) -> None:
    """The oldest request does not wait any longer."""
    connection = lane.connections[slot]
    first = connection.pending_first
    connection.pending_first = lane.pending[first].next
    connection.pending -= 1
    if connection.pending_first == NOTHING:
        connection.pending_last = NOTHING
    lane.pending[first].next = lane.numbers[FREE_PENDING]
    lane.numbers[FREE_PENDING] = first


@kernel
def _give_up(lane: Lane, slot: Any) -> None:
    entry = lane.pending[lane.connections[slot].pending_first]
    _pair(lane, slot, entry.asked, NOTHING, NO_RESPONSE if entry.silent else UNANSWERED)
    _take(lane, slot)
