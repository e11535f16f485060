"""What a message changes on a calm connection: what `Talk` and `Pairing` do about an ordinary one.

Each gives DONE and has changed everything, or another status and nothing.
"""

from typing import Any

import numpy as np

from netdiag.traffic.engine.compiled.interpreter import begin as begin_message
from netdiag.traffic.engine.compiled.interpreter import end as end_message
from netdiag.traffic.engine.compiled.interpreter import feed, lost
from netdiag.traffic.engine.compiled.kernel import inlined, kernel, merged
from netdiag.traffic.engine.compiled.lane_ended import keep_digest
from netdiag.traffic.engine.compiled.lane_orphans import keep_orphan
from netdiag.traffic.engine.compiled.lane_state import (
    DIGESTED_BYTES,
    DIGESTS,
    FREE_PENDING,
    KEYS,
    MADE,
    PAIRS,
    VERSIONS,
    WHOLE,
    Array,
    Lane,
    Reading,
)
from netdiag.traffic.engine.compiled.lane_versions import note_version
from netdiag.traffic.engine.compiled.layout import DONE, FULL, NOTHING, ODD_REST, OUTCOMES
from netdiag.traffic.engine.compiled.machines import IDLE, STATUS
from netdiag.traffic.engine.compiled.program import API_VERSIONS, MOST_KEYS, MOST_VERSIONS, NOT_QUICK, REFUSED
from netdiag.traffic.engine.compiled.quick import read_whole
from netdiag.traffic.engine.compiled.store import MESSAGES, has_room, new_facts
from netdiag.traffic.engine.pairing import DIGESTED, MAX_PENDING
from netdiag.traffic.engine.talk import WAITING

ANSWERED, NO_RESPONSE, UNANSWERED = (OUTCOMES.index(name) for name in ("answered", "no-response", "unanswered"))
_CONTROLLED_SHUTDOWN, _SASL_HANDSHAKE = 7, 17
_HEAD = 10
_NO_REQUEST = -1
"""In place of a status: no request waits for this response."""


@inlined
def number_at(data: Array, at: Any) -> Any:
    """The four bytes at a place as a number with a sign."""
    value = np.int64(data[at]) << 24 | np.int64(data[at + 1]) << 16 | np.int64(data[at + 2]) << 8 | data[at + 3]
    return value - (1 << 32) if value >= 1 << 31 else value


@inlined
def short_at(data: Array, at: Any) -> Any:
    """The two bytes at a place as a number with a sign."""
    value = np.int64(data[at]) << 8 | data[at + 1]
    return value - (1 << 16) if value >= 1 << 15 else value


@merged
def take(lane: Lane, reading: Reading, slot: Any, data: Array, begin: Any, end: Any, is_inside: Any) -> Any:
    """A message whose bytes behind the size field are there from `begin` to `end`; its row is the lane's `message`.

    `is_inside`: it began in this packet.
    """
    message = lane.message[0]
    connection = lane.connections[slot]
    if message.is_request:
        status, before = _look_at_request(lane, connection, data, begin, end, message), 0
    else:
        status, before = _look_at_response(lane, connection, data, begin, end, message)
        if status == _NO_REQUEST:
            # At first, or not as a whole, it may be something else than it seems to be.
            is_sure = connection.stage == MADE and connection.responses >= DIGESTED and end - begin == message.size
            if not is_inside or not is_sure:
                return ODD_REST
            status = keep_orphan(lane, reading.store, connection, message, data, begin)
            if status == DONE:
                connection.responses += 1
                connection.last_response = message.correlation_id
            return status
    if status != DONE:
        return status
    at = _store(lane, reading, connection, slot, data, begin, end, message)
    if at < 0:
        return FULL
    if message.is_request:
        _wait(lane, connection, slot, at, message)
    else:
        for _ in range(before):
            give_up(lane, slot)
        connection.responses += 1
        connection.last_response = message.correlation_id
        _pair(lane, connection, lane.pending[connection.pending_first].asked, at, ANSWERED)
        _take_out(lane, connection)
    return DONE


@inlined
def _look_at_request(lane: Lane, connection: Any, data: Array, begin: Any, end: Any, message: Any) -> Any:
    if end - begin < _HEAD:
        return ODD_REST
    correlation = number_at(data, begin + 4)
    is_orphans = connection.orphans_low <= correlation and correlation <= connection.orphans_high
    if is_orphans and message.start_time <= connection.orphans_until:
        return ODD_REST
    key, version = short_at(data, begin), short_at(data, begin + 2)
    if key < 0 or key >= KEYS or version < 0 or version >= VERSIONS:
        return ODD_REST
    if key in (_CONTROLLED_SHUTDOWN, _SASL_HANDSHAKE):
        return ODD_REST
    # Who asks for rows of connections asks what clients call themselves.
    if key == API_VERSIONS and (connection.stage == MADE or (connection.requests and len(lane.wishes.ended))):
        return ODD_REST
    if not connection.has_client_id and short_at(data, begin + 8) >= 0:
        return ODD_REST
    if lane.numbers[FREE_PENDING] == NOTHING or lane.numbers[PAIRS] >= len(lane.pairs):
        return FULL
    message.correlation_id = correlation
    message.api_key = key
    message.api_version = version
    return DONE


@inlined
def _look_at_response(lane: Lane, connection: Any, data: Array, begin: Any, end: Any, message: Any) -> Any:
    """Also gives how many requests before its own will not be answered any more."""
    if end - begin < 4:
        return ODD_REST, 0
    correlation = number_at(data, begin)
    entry = np.int64(connection.pending_first)
    before = 0
    while entry != NOTHING and lane.pending[entry].correlation_id != correlation:
        is_past = not connection.unsorted and lane.pending[entry].correlation_id > correlation
        entry = np.int64(NOTHING if is_past else lane.pending[entry].next)
        before += 1
    message.correlation_id = correlation
    if entry == NOTHING:
        return _NO_REQUEST, 0
    if connection.unsorted and before < connection.pending - WAITING:
        return ODD_REST, 0
    if lane.numbers[PAIRS] + before + 1 > len(lane.pairs):
        return FULL, 0
    api = lane.pending[entry].api
    message.api_key = api >> 16
    message.api_version = api & 0xFFFF
    return DONE, before


@inlined
def _wait(lane: Lane, connection: Any, slot: Any, at: Any, message: Any) -> None:
    """A request waits for its response."""
    numbers = lane.numbers
    free = numbers[FREE_PENDING]
    note_version(lane, slot, np.int64(message.api_key), np.int64(message.api_version))
    connection.last_request = message.correlation_id
    connection.asked += 1
    connection.requests += 1
    entry = lane.pending[free]
    numbers[FREE_PENDING] = entry.next
    entry.asked = at
    entry.correlation_id = message.correlation_id
    entry.api = np.int64(message.api_key) << 16 | np.int64(message.api_version)
    entry.next = NOTHING
    entry.silent = 0
    if connection.pending:
        if message.correlation_id <= lane.pending[connection.pending_last].correlation_id:
            connection.unsorted = 1
        lane.pending[connection.pending_last].next = free
    else:
        connection.unsorted = 0
        connection.pending_first = free
    connection.pending_last = free
    connection.pending += 1
    if connection.pending > MAX_PENDING:
        give_up(lane, slot)


@merged
def _store(
    lane: Lane, reading: Reading, connection: Any, slot: Any, data: Array, begin: Any, end: Any, message: Any
) -> Any:
    """Read a message, and keep its beginning for the digest; gives its number, below 0 where there is no room."""
    store = reading.store
    is_request = message.is_request
    is_first = (connection.requests if is_request else connection.responses) < DIGESTED
    is_early = is_first and connection.stage == MADE
    if (is_early and lane.numbers[DIGESTS] >= len(lane.digests)) or not has_room(store):
        return -1
    for arena in range(len(lane.saved)):
        lane.saved[arena] = store.counts[arena]
    message.connection = connection.context
    number = new_facts(store)
    store.facts[number] = message
    if not _read(reading, lane.saved, number, message, data, begin, end):
        reading.machines.state[WHOLE, STATUS] = IDLE
        for arena in range(len(lane.saved)):
            store.counts[arena] = lane.saved[arena]
        return -1
    if is_early:
        _digest(lane, slot, message, data, begin, end)
    elif is_first and len(lane.wishes.ended):
        keep_digest(lane, slot, message, data, begin, end)
    return number


@merged
def _read(reading: Reading, saved: Array, number: Any, message: Any, data: Array, begin: Any, end: Any) -> Any:
    """Read a message at once, or have a machine read it; False where there is no room for what it tells."""
    store, machines, programs = reading.store, reading.machines, reading.programs
    known = 8 if message.is_request else 4
    size = np.int64(message.size)
    key, version = np.int64(message.api_key), np.int64(message.api_version)
    program = np.int64(NOT_QUICK)
    if end - begin == size and 0 <= key < MOST_KEYS and 0 <= version < MOST_VERSIONS:
        program = np.int64(programs.quick_starts[1 - np.int64(message.is_request), key, version])
    if program >= 0 and key == API_VERSIONS and not message.is_request:
        program = np.int64(NOT_QUICK) if size < 6 or short_at(data, begin + 4) == REFUSED else program
    if program >= 0:
        state = machines.state[WHOLE]
        if read_whole(store, state, programs.quick, program, number, data, begin + known, end):
            return True
        for arena in range(MESSAGES):
            store.counts[arena] = saved[arena]
    begin_message(
        store,
        machines,
        WHOLE,
        programs,
        number,
        message.is_request != 0,
        int(key),
        int(version),
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


@inlined
def _pair(lane: Lane, connection: Any, asked: Any, answer: Any, outcome: Any) -> None:
    pair = lane.pairs[lane.numbers[PAIRS]]
    lane.numbers[PAIRS] += 1
    pair.asked = asked
    pair.answer = answer
    pair.connection = connection.context
    pair.outcome = outcome


@inlined
def _take_out(lane: Lane, connection: Any) -> None:
    """The oldest request does not wait any longer."""
    first = connection.pending_first
    connection.pending_first = lane.pending[first].next
    connection.pending -= 1
    if connection.pending_first == NOTHING:
        connection.pending_last = NOTHING
    lane.pending[first].next = lane.numbers[FREE_PENDING]
    lane.pending[first].asked = NOTHING
    lane.numbers[FREE_PENDING] = first


@kernel
def give_up(lane: Lane, slot: Any) -> None:
    """The oldest request has no response."""
    connection = lane.connections[slot]
    entry = lane.pending[connection.pending_first]
    _pair(lane, connection, entry.asked, NOTHING, NO_RESPONSE if entry.silent else UNANSWERED)
    _take_out(lane, connection)
