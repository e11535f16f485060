"""The usual in kernels: segments that bring the next bytes, old ones, or nothing but an acknowledgement.

What is usual is what `Dialogue.push` does in its first lines, and what it makes of a segment that tells of nothing that
is missing, on calm connections. Everything else is for the twin: `run` comes back for it.
"""

from typing import Any

import numpy as np

from netdiag.traffic.engine.compiled.kernel import inlined, kernel
from netdiag.traffic.engine.compiled.lane_ahead import ask_ahead
from netdiag.traffic.engine.compiled.lane_copies import (
    is_named_as,
    known_place,
    mask_of,
    new_place,
    places_of_mask,
    what_of,
    write_copy,
)
from netdiag.traffic.engine.compiled.lane_frames import cut
from netdiag.traffic.engine.compiled.lane_notes import note
from netdiag.traffic.engine.compiled.lane_state import (
    BARE,
    BLOCKS,
    HAS_FIN,
    HAS_RST,
    LISTENED,
    MADE,
    MOST_COPIES,
    MOST_COUNTED,
    MOST_PLACES,
    MOST_SIZE,
    NEXT_SWEEP,
    NOT_LISTENED,
    OPENED,
    TALKING,
    Array,
    Lane,
    Reading,
)
from netdiag.traffic.engine.compiled.lane_unfinished import trouble_of
from netdiag.traffic.engine.compiled.layout import DONE, FULL, LEFT_OUT, ODD_PACKET, UNKNOWN_KEY
from netdiag.traffic.engine.compiled.opening import go_on, look_at_early, make_way, open_connection, take_answer
from netdiag.traffic.engine.delivery import FAR, HALF, MASK, REMEMBERED, SAME_PACKET
from netdiag.traffic.engine.packet import ACK, FIN, RST, SYN

_UNUSUAL = SYN | FIN | RST
_MOST_FLAGS = 255
_ORDINARY, _AGAIN = 100, 101


@kernel
def run(
    lane: Lane,
    reading: Reading,
    lanes: Array,
    keys: Array,
    places: Array,
    packets: Array,
    data: Array,
    begin: Any,
    offset: Any,
) -> Any:
    """Take packets from `begin` on, the first from `offset` of its payload on where it was counted before.

    Gives why it comes back, the index of a packet and the offset in its payload, below 0 where that is not counted.
    `places`: of every interface of the chunk its place, the bit of its name in `seen`, and its file.
    """
    index = begin
    while index < len(packets):
        packet = packets[index]
        ask_ahead(lane, lanes, keys, packets, index)
        if offset < 0:
            if not packet.segment or packet.key < 0:
                return ODD_PACKET, index, -1
            if not lane.numbers[BLOCKS]:
                return FULL, index, -1
            number = _lane_of(lane, lanes, keys, packet)
            if number == LEFT_OUT or (number == UNKNOWN_KEY and packet.flags & SYN):
                status = DONE if number == LEFT_OUT else open_connection(lane, lanes, keys, packet, places)
                if status != DONE:
                    return status, index, -1
                index += 1
                continue
            early = False
            if number >= 0:
                stage = lane.connections[number >> 1].stage
                early = stage != MADE and stage != TALKING
                if early or (stage != MADE and packet.flags & _UNUSUAL):
                    status = _take_special(lane, lanes, number, packet, places, data)
                    if status == DONE:
                        _note(lane, number, packet, keys)
                        index += 1
                        continue
                    if status == _AGAIN:
                        continue
                    if status != _ORDINARY:
                        return status, index, -1
                offset = _count(lane, number, packet, places)
            if offset < 0:
                return ODD_PACKET, index, -1
            if early:
                go_on(lane, number, packet, data)
            _note(lane, number, packet, keys)
        number = np.int64(lanes[packet.key])
        if offset < packet.size:
            status, offset = cut(lane, reading, number, packet, data, offset, places[packet.interface, 2])
            if status != DONE:
                return status, index, offset
        offset = -1
        index += 1
    return DONE, index, -1


@inlined
def _lane_of(lane: Lane, lanes: Array, keys: Array, packet: Any) -> Any:
    """What `lanes` says of a packet's pair of addresses, and of a new one, whether its ports were asked for."""
    number, ports = np.int64(lanes[packet.key]), lane.wishes.ports
    if number == UNKNOWN_KEY and len(ports):
        key = keys[packet.key]
        if not ports[key.source_port] and not ports[key.destination_port]:
            lanes[packet.key] = lanes[packet.key ^ 1] = number = np.int64(LEFT_OUT)
    return number


@kernel
def _take_special(lane: Lane, lanes: Array, number: Any, packet: Any, places: Array, data: Array) -> Any:
    """A packet of a connection that was opened here: one that opens or ends it, or before it has said anything."""
    if packet.flags & SYN:
        if packet.flags & ACK:
            return take_answer(lane, number, packet, places)
        status = make_way(lane, lanes, number, packet)
        return _AGAIN if status == DONE else status
    if packet.flags & (FIN | RST):
        return _take_end(lane, number, packet, places)
    status = look_at_early(lane, number, packet, data)
    return _ORDINARY if status == DONE else status


@kernel
def _take_end(lane: Lane, number: Any, packet: Any, places: Array) -> Any:
    """FIN or RST, without payload, of a connection that was opened here."""
    connection, direction = lane.connections[number >> 1], lane.directions[number]
    flags = np.int64(packet.flags)
    is_listened = connection.kind == LISTENED
    if (
        connection.stage < OPENED
        or (packet.size and is_listened)
        or flags > _MOST_FLAGS
        or not _is_here(lane, connection, packet, places)
    ):
        return ODD_PACKET
    if flags & FIN:
        if flags & RST or not flags & ACK:
            return ODD_PACKET
        if is_listened and (packet.sequence != direction.next & MASK or _ahead(lane, number, packet) < 0):
            return ODD_PACKET
    if is_listened:
        if not _count_end(lane, number, direction, packet, places):
            return ODD_PACKET
    else:
        direction.marks |= HAS_RST if flags & RST else HAS_FIN
    if flags & RST and connection.reset < 0:
        connection.reset = number & 1
    _keep_times(connection, packet)
    return DONE


@inlined
def _count_end(lane: Lane, number: Any, direction: Any, packet: Any, places: Array) -> Any:
    """Count FIN or RST; False where it is not to be known whether it is a copy, and nothing was counted."""
    flags = np.int64(packet.flags)
    place = places[packet.interface, 0]
    what = BARE | np.int64(packet.window) << 8 | flags
    known = _is_copy(lane, number, direction, packet, place, packet.acknowledgement, what)
    if known < 0:
        return False
    if known:
        trouble_of(lane, number, direction).duplicates += 1
    else:
        direction.packets += 1
        direction.last_time = packet.time
        if packet.window == 0 and direction.window != 0 and not flags & RST:
            trouble_of(lane, number, direction).zero_windows += 1
        direction.window = packet.window
        direction.marks |= HAS_RST if flags & RST else HAS_FIN
    return True


@inlined
def _is_here(lane: Lane, connection: Any, packet: Any, places: Array) -> Any:
    """Whether it was captured where those of the connection were before, and there is no sweep to do."""
    if packet.interface < 0:
        return False
    bit = places[packet.interface, 1]
    if bit < 0 or not (connection.seen >> np.uint64(bit)) & np.uint64(1) or places[packet.interface, 0] >= MOST_PLACES:
        return False
    return packet.time < lane.numbers[NEXT_SWEEP]


@inlined
def _ahead(lane: Lane, number: Any, packet: Any) -> Any:
    """Whether it acknowledges a FIN (1), or nothing that is missing (0); below 0: something is missing."""
    other = lane.directions[number ^ 1]
    ahead = (np.int64(packet.acknowledgement) - other.next) & MASK
    if ahead == 0 or ahead >= HALF:
        return 0
    if ahead == 1 and other.marks & HAS_FIN and not packet.size:
        other.acked = other.next + 1
        return 1
    return -1


@inlined
def _keep_times(connection: Any, packet: Any) -> None:
    connection.last_time = max(connection.last_time, packet.time)
    connection.first_time = min(connection.first_time, packet.time)


@inlined
def _note(lane: Lane, number: Any, packet: Any, keys: Array) -> None:
    key = keys[packet.key]
    note(
        lane.sent,
        lane.sent_sequences,
        lane.numbers,
        packet.sequence,
        packet.acknowledgement,
        packet.size,
        key.source_port,
        key.destination_port,
        lane.connections[number >> 1].number,
        number & 1,
        packet.time,
    )


@inlined
def _count(lane: Lane, number: Any, packet: Any, places: Array) -> Any:
    """Count a packet that is for the arrays, but for what its payload says; gives where in this the new bytes begin.

    Below 0: it is not for the arrays, and nothing was counted.
    """
    flags = packet.flags
    if flags & _UNUSUAL or not flags & ACK or flags > _MOST_FLAGS:
        return -1
    connection = lane.connections[number >> 1]
    if not _is_here(lane, connection, packet, places):
        return -1
    place = places[packet.interface, 0]
    new = np.int64(packet.size)
    if connection.kind != NOT_LISTENED:
        if _ahead(lane, number, packet) < 0:
            return -1
        direction = lane.directions[number]
        if (direction.packets | direction.frames) >= MOST_COUNTED or packet.size >= MOST_SIZE:
            return -1
        if not packet.size:
            new = _count_bare(lane, number, direction, packet, place)
        elif packet.sequence == direction.next & MASK:
            _count_next(lane, number, direction, packet, place)
            new = np.int64(0)
        else:
            new = _count_old(lane, number, direction, packet, place)
        if new < 0:
            return -1
    _keep_times(connection, packet)
    return new


@inlined
def _count_next(lane: Lane, number: Any, direction: Any, packet: Any, place: Any) -> None:
    """What comes next: `Dialogue._plain`."""
    _count_packet(lane, number, direction, packet)
    _remember(lane, direction, packet, place, 0, np.int64(packet.size))
    direction.next += packet.size
    if packet.size > packet.kept:
        trouble_of(lane, number, direction).truncated_bytes += packet.size - packet.kept


@inlined
def _count_bare(lane: Lane, number: Any, direction: Any, packet: Any, place: Any) -> Any:
    """No payload."""
    what = BARE | np.int64(packet.window) << 8 | np.int64(packet.flags)
    known = _is_copy(lane, number, direction, packet, place, packet.acknowledgement, what)
    if known < 0:
        return -1
    if known:
        trouble_of(lane, number, direction).duplicates += 1
        return 0
    _count_packet(lane, number, direction, packet)
    if packet.sequence == (direction.next - 1) & MASK and direction.next > direction.start:
        trouble_of(lane, number, direction).keep_alives += 1
    return 0


@kernel
def _count_old(lane: Lane, number: Any, direction: Any, packet: Any, place: Any) -> Any:
    """Payload that was there before, at least its beginning: sent again, captured twice, or a probe."""
    size = np.int64(packet.size)
    behind = (direction.next - np.int64(packet.sequence)) & MASK
    if behind >= FAR:
        return -1
    known = _is_copy(lane, number, direction, packet, place, 0, size)
    if known < 0:
        return -1
    if known or (size <= behind and place != direction.place):
        trouble_of(lane, number, direction).duplicates += 1
        return size
    _count_packet(lane, number, direction, packet)
    trouble = trouble_of(lane, number, direction)
    if size == 1 and behind == 1 and direction.next > direction.start:
        trouble.keep_alives += 1
        return size
    trouble.retransmissions += 1
    if size <= behind:
        return size
    direction.next += size - behind
    trouble.truncated_bytes += size - max(behind, np.int64(packet.kept))
    return behind


@inlined
def _count_packet(lane: Lane, number: Any, direction: Any, packet: Any) -> None:
    direction.packets += 1
    direction.last_time = packet.time
    if packet.window != direction.window:
        if packet.window == 0:
            trouble_of(lane, number, direction).zero_windows += 1
        direction.window = packet.window


@kernel
def _is_copy(lane: Lane, number: Any, direction: Any, packet: Any, place: Any, acknowledgement: Any, what: Any) -> Any:
    """As `Delivery.is_copy`: 1 or 0, and it is remembered; below 0 where there is no room for that."""
    recent = direction.recent
    at = known_place(lane, direction.recent_first, recent, packet.sequence, acknowledgement, what)
    is_recent = at >= 0
    if not is_recent:
        at = known_place(lane, direction.older_first, direction.older, packet.sequence, acknowledgement, what)
    if at >= 0 and what_of(lane.remembered[at]) == what:
        copy = lane.remembered[at]
        mask = mask_of(lane, np.int64(copy.places))
        seen = np.int64(0)
        was_here = False
        while seen < MOST_COPIES:
            there = np.int64((mask >> np.uint64(16 * seen)) & np.uint64(0xFFFF))
            if there == 0:
                break
            was_here = was_here or there == place + 1
            seen += 1
        moment = abs(packet.time - copy.time) < SAME_PACKET
        if not was_here or (moment and is_named_as(copy, packet)):
            if seen == MOST_COPIES or (not is_recent and recent >= REMEMBERED):
                return -1
            seen_in = places_of_mask(lane, mask | np.uint64(place + 1) << np.uint64(16 * seen))
            if seen_in < 0:
                return -1
            if not is_recent:
                at = new_place(lane, direction)
                lane.remembered[at] = copy
            lane.remembered[at].places = seen_in
            return 1
    if is_recent and recent < REMEMBERED:
        write_copy(lane.remembered[at], packet, place, acknowledgement, what)
    else:
        _remember(lane, direction, packet, place, acknowledgement, what)
    return 0


@inlined
def _remember(lane: Lane, direction: Any, packet: Any, place: Any, acknowledgement: Any, what: Any) -> None:
    write_copy(lane.remembered[new_place(lane, direction)], packet, place, acknowledgement, what)
