"""The usual in kernels: segments that bring the next bytes, or nothing but an acknowledgement, on calm connections.

What is usual is what `Dialogue.push` does in its first lines, and what `Dialogue.push` makes of an acknowledgement that
is no copy and tells of nothing that is missing. Everything else is for the twin: `run` comes back for it.
"""

from typing import Any

import numpy as np

from netdiag.traffic.engine.compiled.kernel import kernel
from netdiag.traffic.engine.compiled.lane_frames import cut
from netdiag.traffic.engine.compiled.lane_notes import note
from netdiag.traffic.engine.compiled.lane_state import BARE, NEXT_SWEEP, NOT_LISTENED, Array, Lane, Reading
from netdiag.traffic.engine.compiled.layout import DONE, LEFT_OUT, ODD_PACKET
from netdiag.traffic.engine.delivery import HALF, MASK, REMEMBERED
from netdiag.traffic.engine.packet import ACK, FIN, RST, SYN

_UNUSUAL = SYN | FIN | RST
_MOST_FLAGS = 255


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
        if offset < 0:
            if not packet.segment or packet.key < 0:
                return ODD_PACKET, index, -1
            number = np.int64(lanes[packet.key])
            if number == LEFT_OUT:
                index += 1
                continue
            if number < 0 or not _is_usual(lane, number, packet, places):
                return ODD_PACKET, index, -1
            _note(lane, number, packet, keys)
            offset = 0
            if lane.connections[number >> 1].kind == NOT_LISTENED or not packet.size:
                offset = packet.size
        number = np.int64(lanes[packet.key])
        if offset < packet.size:
            status, offset = cut(lane, reading, number, packet, data, offset, places[packet.interface, 2])
            if status != DONE:
                return status, index, offset
        offset = -1
        index += 1
    return DONE, index, -1


@kernel
def _note(lane: Lane, number: Any, packet: Any, keys: Array) -> None:
    key = keys[packet.key]
    note(
        lane.sent,
        lane.sent_index,
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


@kernel
def _is_usual(lane: Lane, number: Any, packet: Any, places: Array) -> Any:
    """Whether a packet is for the arrays; if so it is counted, but for what its payload says."""
    flags = packet.flags
    if flags & _UNUSUAL or not flags & ACK or flags > _MOST_FLAGS or packet.interface < 0:
        return False
    connection = lane.connections[number >> 1]
    place = places[packet.interface, 0]
    bit = places[packet.interface, 1]
    if bit < 0 or not (connection.seen >> np.uint64(bit)) & np.uint64(1):
        return False
    if packet.time >= lane.numbers[NEXT_SWEEP]:
        return False
    if connection.kind != NOT_LISTENED:
        other = lane.directions[number ^ 1]
        ahead = (np.int64(packet.acknowledgement) - other.next) & MASK
        if ahead != 0 and ahead < HALF:
            return False
        direction = lane.directions[number]
        if packet.size:
            if packet.sequence != direction.next & MASK:
                return False
            _count_data(lane, number, direction, packet, place)
        elif not _count_bare(lane, number, direction, packet, place):
            return False
    connection.last_time = max(connection.last_time, packet.time)
    connection.first_time = min(connection.first_time, packet.time)
    return True


@kernel
def _count_data(lane: Lane, number: Any, direction: Any, packet: Any, place: Any) -> None:
    direction.packets += 1
    direction.last_time = packet.time
    if packet.window != direction.window:
        direction.zero_windows += packet.window == 0
        direction.window = packet.window
    _remember(lane, number, direction, packet, place, 0, np.int64(packet.size))
    direction.next += packet.size
    direction.truncated_bytes += max(0, packet.size - packet.kept)


@kernel
def _count_bare(lane: Lane, number: Any, direction: Any, packet: Any, place: Any) -> Any:
    what = BARE | np.int64(packet.window) << 8 | np.int64(packet.flags)
    for half in range(2):
        count = direction.recent if half == direction.half else direction.older
        for index in range(half * REMEMBERED, half * REMEMBERED + count):
            copy = lane.remembered[number, index]
            if (
                copy.what == what
                and copy.sequence == packet.sequence
                and copy.acknowledgement == packet.acknowledgement
            ):
                return False
    direction.packets += 1
    direction.last_time = packet.time
    if packet.window != direction.window:
        direction.zero_windows += packet.window == 0
        direction.window = packet.window
    _remember(lane, number, direction, packet, place, packet.acknowledgement, what)
    if packet.sequence == (direction.next - 1) & MASK and direction.next > direction.start:
        direction.keep_alives += 1
    return True


@kernel
def _remember(
    lane: Lane, number: Any, direction: Any, packet: Any, place: Any, acknowledgement: Any, what: Any
) -> None:
    if direction.recent >= REMEMBERED:
        direction.half ^= 1
        direction.older = direction.recent
        direction.recent = 0
    copy = lane.remembered[number, np.int64(direction.half) * REMEMBERED + direction.recent]
    direction.recent += 1
    copy.time = packet.time
    copy.places = place + 1
    copy.sequence = packet.sequence
    copy.acknowledgement = acknowledgement
    copy.what = what
    copy.identification = packet.identification
