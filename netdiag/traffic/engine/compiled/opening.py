"""How ordinary connections are opened, in kernels: SYN, its answer, the acknowledgement, ApiVersions.

And how they end: FIN, RST, or another connection on the same ports. The twin does not get to see them: what it would
know of them is in the arrays, and `births` makes its objects of that when it must. All that is not ordinary is for it.
"""

from typing import Any

import numpy as np

from netdiag.traffic.engine.compiled.kernel import inlined, kernel
from netdiag.traffic.engine.compiled.lane_copies import free_places, new_place, write_copy
from netdiag.traffic.engine.compiled.lane_ended import NO_ROOM, software_of, tell_end
from netdiag.traffic.engine.compiled.lane_messages import give_up, short_at
from netdiag.traffic.engine.compiled.lane_notes import find_syn, note_syn
from netdiag.traffic.engine.compiled.lane_state import (
    ABSENT,
    BARE,
    BORN,
    CALLED,
    CONTEXTS,
    FRESHES,
    HAS_TROUBLE,
    LISTENED,
    LONG_AGO,
    MOST_BORN,
    MOST_PLACES,
    NEXT_SWEEP,
    NOT_LISTENED,
    OPENED,
    ORDER,
    OVER,
    PAIRS,
    REPLIED,
    SLOTS,
    SLOTS_EVER,
    TALKING,
    Array,
    Lane,
)
from netdiag.traffic.engine.compiled.lane_unfinished import forget_trouble, free_unfinished, trouble_of
from netdiag.traffic.engine.compiled.lane_versions import forget_versions
from netdiag.traffic.engine.compiled.lane_wishes import CLASS, CLASSES, ENDINGS, MOST_CLIENT_ID
from netdiag.traffic.engine.compiled.layout import DONE, FULL, NOTHING, ODD_PACKET, UNKNOWN_KEY
from netdiag.traffic.engine.compiled.numbering import connection_number
from netdiag.traffic.engine.delivery import MASK
from netdiag.traffic.engine.linking import OPENED_WITHIN
from netdiag.traffic.engine.packet import ACK, FIN, RST

_API_VERSIONS, _MOST_VERSION, _FIRST_FLEXIBLE = 18, 4, 3
_LEAST_FIRST, _MOST_FIRST = 14, 512
_MOST_TEXT = 128
_MOST_FLAGS = 255


@kernel
def open_connection(lane: Lane, lanes: Array, keys: Array, packet: Any, places: Array) -> Any:
    """Take the SYN of a connection that nobody knows."""
    numbers = lane.numbers
    flags = packet.flags
    if flags & (ACK | RST | FIN) or flags > _MOST_FLAGS or packet.size or packet.interface < 0 or packet.time < 0:
        return ODD_PACKET
    bit, place = places[packet.interface, 1], places[packet.interface, 0]
    if bit < 0 or place >= MOST_PLACES or packet.time >= numbers[NEXT_SWEEP] or numbers[BORN] >= numbers[MOST_BORN]:
        return ODD_PACKET
    key = keys[packet.key]
    known = find_syn(lane.syns, lane.syn_sequences, numbers, packet.sequence, key.source_port)
    if known >= 0 and lane.syns[known].time >= packet.time - OPENED_WITHIN:
        return ODD_PACKET
    if not numbers[SLOTS]:
        return FULL
    numbers[SLOTS] -= 1
    numbers[BORN] += 1
    numbers[ORDER] += 1
    slot = np.int64(lane.slots[numbers[SLOTS]])
    numbers[SLOTS_EVER] = max(numbers[SLOTS_EVER], slot + 1)
    number = connection_number(lane.hashing, key, packet.time)
    figures = lane.wishes.figures
    is_listened = np.int64(number) % figures[CLASSES] == figures[CLASS]
    _new_connection(lane, slot, packet, number, bit, is_listened)
    birth = lane.births[slot]
    birth.asked = packet.time
    birth.order = numbers[ORDER]
    birth.initial[0] = packet.sequence
    birth.key = packet.key
    birth.file = places[packet.interface, 2]
    birth.interface = bit
    birth.software = NOTHING
    birth.digests[0] = birth.digests[1] = 0
    _new_direction(lane, 2 * slot)
    _new_direction(lane, 2 * slot + 1)
    _begin(lane, 2 * slot, packet, place, is_listened)
    lanes[packet.key] = 2 * slot
    lanes[packet.key ^ 1] = 2 * slot + 1
    ports = key.source_port, key.destination_port
    note_syn(lane.syns, lane.syn_sequences, numbers, packet.sequence, *ports, number, 0, packet.time)
    return DONE


@inlined
def _new_connection(lane: Lane, slot: Any, packet: Any, number: Any, bit: Any, is_listened: Any) -> None:
    connection = lane.connections[slot]
    connection.first_time = connection.last_time = packet.time
    connection.number = number
    connection.orphans_until = LONG_AGO
    connection.orphans_low = 0
    connection.orphans_high = -1
    connection.seen = np.uint64(1) << np.uint64(bit)
    connection.asked = connection.requests = connection.responses = 0
    connection.last_request = connection.last_response = ABSENT
    connection.pending_first = connection.pending_last = NOTHING
    connection.pending = 0
    connection.context = NOTHING
    connection.client_side = connection.unsorted = connection.has_client_id = 0
    connection.kind = LISTENED if is_listened else NOT_LISTENED
    connection.stage = CALLED
    connection.reset = NOTHING
    forget_versions(lane, slot)


@kernel
def _new_direction(lane: Lane, number: Any) -> None:
    """Nothing was seen of it."""
    direction = lane.directions[number]
    direction.start = direction.next = direction.acked = -1
    direction.last_time = -1
    direction.window = direction.place = -1
    direction.packets = direction.frames = direction.frame_bytes = 0
    direction.unfinished = 0
    direction.recent = direction.older = 0
    forget_trouble(lane, number, direction)


@kernel
def _begin(lane: Lane, number: Any, packet: Any, place: Any, is_listened: Any) -> None:
    """The first packet of a direction, with SYN."""
    direction = lane.directions[number]
    direction.start = direction.next = (np.int64(packet.sequence) + 1) & MASK
    direction.packets = 1
    direction.last_time = packet.time
    if packet.window == 0:
        trouble_of(lane, number, direction).zero_windows += 1
    direction.window = packet.window
    direction.place = place
    if not is_listened:
        return
    what = BARE | np.int64(packet.window) << 8 | np.int64(packet.flags)
    write_copy(lane.remembered[new_place(lane, direction)], packet, place, packet.acknowledgement, what)


@kernel
def take_answer(lane: Lane, number: Any, packet: Any, places: Array) -> Any:
    """Take the SYN-ACK of a connection that was opened here."""
    connection = lane.connections[number >> 1]
    if connection.stage != CALLED or number & 1 == 0 or packet.flags & (RST | FIN) or not packet.flags & ACK:
        return ODD_PACKET
    asker = lane.directions[number ^ 1]
    if packet.flags > _MOST_FLAGS or packet.size or packet.acknowledgement != asker.next or packet.interface < 0:
        return ODD_PACKET
    bit, place = places[packet.interface, 1], places[packet.interface, 0]
    if bit < 0 or not (connection.seen >> np.uint64(bit)) & np.uint64(1) or place >= MOST_PLACES:
        return ODD_PACKET
    if packet.time >= lane.numbers[NEXT_SWEEP]:
        return ODD_PACKET
    _begin(lane, number, packet, place, connection.kind == LISTENED)
    connection.last_time = max(connection.last_time, packet.time)
    connection.first_time = min(connection.first_time, packet.time)
    connection.stage = REPLIED
    birth = lane.births[number >> 1]
    birth.answered = packet.time
    birth.initial[1] = packet.sequence
    return DONE


@inlined
def look_at_early(lane: Lane, number: Any, packet: Any, data: Array) -> Any:
    """Whether a packet without SYN, FIN and RST is the next that is usual for a connection that is being opened."""
    stage = lane.connections[number >> 1].stage
    if number & 1 == 0 and stage == REPLIED and lane.connections[number >> 1].kind == NOT_LISTENED:
        return DONE
    if number & 1 or stage < REPLIED or packet.sequence != lane.directions[number].next:
        return ODD_PACKET
    if packet.acknowledgement != lane.directions[number ^ 1].next:
        return ODD_PACKET
    if not packet.size:
        return DONE
    if stage == REPLIED:
        return ODD_PACKET
    length = _client_id(packet, data)
    if length < NOTHING or (len(lane.wishes.ended) and software_of(lane, packet, data) == NO_ROOM):
        return ODD_PACKET
    if not lane.numbers[CONTEXTS] or lane.numbers[FRESHES] >= len(lane.fresh):
        return FULL
    return DONE


@inlined
def go_on(lane: Lane, number: Any, packet: Any, data: Array) -> None:
    """A packet that was looked at early was counted: the connection has come one step further."""
    connection = lane.connections[number >> 1]
    if connection.stage == REPLIED:
        lane.births[number >> 1].acknowledged = packet.time
        # Of what nobody listens to nobody asks what it says first.
        connection.stage = OPENED if connection.kind == LISTENED else TALKING
    elif packet.size:
        connection.stage = TALKING
        _introduce(lane, number >> 1, packet, data)


@kernel
def _introduce(lane: Lane, slot: Any, packet: Any, data: Array) -> None:
    """The first request says who asks."""
    numbers = lane.numbers
    connection, birth = lane.connections[slot], lane.births[slot]
    length = _client_id(packet, data)
    if len(lane.wishes.ended):
        birth.software = software_of(lane, packet, data)
    connection.has_client_id = length >= 0
    numbers[CONTEXTS] -= 1
    connection.context = lane.contexts[numbers[CONTEXTS]]
    fresh = lane.fresh[numbers[FRESHES]]
    numbers[FRESHES] += 1
    fresh.number = connection.number
    fresh.context = connection.context
    fresh.key = birth.key
    fresh.client_id_length = length
    for index in range(length):
        fresh.client_id[index] = data[packet.payload + _LEAST_FIRST + index]


@kernel
def _client_id(packet: Any, data: Array) -> Any:
    """The length of the client id of a segment that is ApiVersions and nothing else; -1 of null, below that: it is not.

    What is taken for it here, `identify.opening` says to be a request.
    """
    begin, size = np.int64(packet.payload), np.int64(packet.size)
    if packet.kept != size or size < _LEAST_FIRST or size > _MOST_FIRST:
        return NOTHING - 1
    if short_at(data, begin) or short_at(data, begin + 2) != size - 4 or short_at(data, begin + 4) != _API_VERSIONS:
        return NOTHING - 1
    version, length = short_at(data, begin + 6), short_at(data, begin + 12)
    at, end = begin + _LEAST_FIRST + max(length, 0), begin + size
    if version < 0 or version > _MOST_VERSION or length < NOTHING or length > MOST_CLIENT_ID or at > end:
        return NOTHING - 1
    if not _is_plain(data, begin + _LEAST_FIRST, at):
        return NOTHING - 1
    if version >= _FIRST_FLEXIBLE:
        at = _behind_text(data, _behind_text(data, at, end, 0), end, 1)
        if at < 0 or at >= end or data[at]:
            return NOTHING - 1
        at += 1
    return length if at == end else NOTHING - 1


@inlined
def _behind_text(data: Array, at: Any, end: Any, no_tags: Any) -> Any:
    """The place behind a compact text, before which an empty field of tags may stand; below 0 where it is none."""
    at += 1 - no_tags
    if at <= 0 or at >= end or (not no_tags and data[at - 1]):
        return np.int64(-1)
    length = np.int64(data[at])
    stop = at + length
    if length == 0 or length >= _MOST_TEXT or stop > end or not _is_plain(data, at + 1, stop):
        return np.int64(-1)
    return stop


@inlined
def _is_plain(data: Array, begin: Any, end: Any) -> Any:
    """Whether bytes are letters and the like."""
    strange = 0
    for index in range(begin, end):
        strange += data[index] < 32 or data[index] >= 127
    return strange == 0


@kernel
def make_way(lane: Lane, lanes: Array, number: Any, packet: Any) -> Any:
    """A SYN on the addresses of a connection that was opened here: that is over, if it is not the same."""
    slot = number >> 1
    connection = lane.connections[slot]
    if connection.stage < REPLIED or lane.births[slot].initial[number & 1] == packet.sequence:
        return ODD_PACKET
    for side in range(2):
        direction = lane.directions[2 * slot + side]
        if direction.unfinished:
            return ODD_PACKET
        if direction.marks & HAS_TROUBLE and lane.trouble[2 * slot + side].cut_times:
            return ODD_PACKET
    if not end_connection(lane, lanes, slot):
        return FULL
    return DONE


@kernel
def end_connection(lane: Lane, lanes: Array, slot: Any) -> Any:
    """A connection that was opened here is over; False where there is no room for its pairs or its row."""
    numbers = lane.numbers
    connection = lane.connections[slot]
    if numbers[PAIRS] + connection.pending > len(lane.pairs):
        return False
    if len(lane.wishes.ended) and connection.kind == LISTENED:
        if lane.wishes.figures[ENDINGS] >= len(lane.wishes.ended):
            return False
        tell_end(lane, slot)
    while connection.pending:
        give_up(lane, slot)
    if connection.context >= 0:
        lane.over[numbers[OVER]] = connection.context
        numbers[OVER] += 1
    for side in range(2):
        lanes[lane.births[slot].key ^ side] = UNKNOWN_KEY
        free_unfinished(lane, lane.directions[2 * slot + side])
        free_places(lane, 2 * slot + side)
    connection.stage = 0
    lane.slots[numbers[SLOTS]] = slot
    numbers[SLOTS] += 1
    numbers[BORN] -= 1
    return True


@kernel
def end_connections(lane: Lane, lanes: Array, slots: Array) -> Any:
    """These are over, in this order; gives how many there was room for."""
    for index in range(len(slots)):
        if not end_connection(lane, lanes, np.int64(slots[index])):
            return index
    return len(slots)
