"""The payload of ordinary segments cut into messages, as `Framer.cut` does it."""

from typing import Any

import numpy as np

from netdiag.traffic.engine.compiled.copying import copy
from netdiag.traffic.engine.compiled.kernel import inlined, kernel, merged
from netdiag.traffic.engine.compiled.lane_messages import take
from netdiag.traffic.engine.compiled.lane_state import CARRY, Array, Lane, Reading
from netdiag.traffic.engine.compiled.layout import DONE, FULL, ODD_REST
from netdiag.traffic.engine.dialogue import KEEP
from netdiag.traffic.engine.identify import LARGEST, SMALLEST_REQUEST, SMALLEST_RESPONSE

_LEAST_ROOM = 2048
_AT_ONCE = 16
"""Room for so many times the bytes that are there, where the message is as large as that."""


@merged
def cut(lane: Lane, reading: Reading, number: Any, packet: Any, data: Array, start: Any, file: Any) -> Any:
    """Read the payload of a segment from `start` on; gives the status, and how far it came.

    What was read is counted; nothing of what comes next is.
    """
    direction = lane.directions[number]
    is_request = lane.connections[number >> 1].client_side == number & 1
    least = SMALLEST_REQUEST if is_request else SMALLEST_RESPONSE
    payload, kept, length = packet.payload, np.int64(packet.kept), np.int64(packet.size)
    at = np.int64(start)
    while at < length:
        left = np.int64(direction.left)
        if left:
            end = at + min(left, length - at)
            added = _carry_on(lane, direction, data, payload + at, payload + min(end, kept))
            if added < 0:
                return FULL, at
            if end < at + left:
                direction.carried += added
                direction.left -= end - at
                if end > kept:
                    _note_cut(direction, end - max(at, kept), packet.time)
                    direction.broken = 1
                at = end
                continue
            source, begin = lane.carry, np.int64(direction.carry)
            until = begin + direction.carried + added
            size, began = np.int64(direction.size), (direction.start_time, direction.start_number)
        else:
            known = np.int64(direction.header_length)
            missing = 4 - known
            if at + missing > kept:
                if kept < length:
                    return ODD_REST, at
                _keep_header(direction, packet, data, at)
                return DONE, length
            size = np.int64(direction.header) if known else np.int64(0)
            for index in range(missing):
                size = size << 8 | np.int64(data[payload + at + index])
            if size < least or size > LARGEST or size > KEEP:
                return ODD_REST, at
            end = at + missing + size
            if known or end > length:
                _begin(direction, packet, size)
                at += missing
                continue
            source, begin = data, payload + at + 4
            until, began = max(begin, payload + min(end, kept)), (packet.time, packet.number)
        _describe(lane, packet, began, size, file, is_request)
        status = take(lane, reading, number >> 1, source, begin, until, left == 0)
        if status != DONE:
            return status, at
        direction.frames += 1
        direction.frame_bytes += 4 + size
        direction.carried = 0
        direction.left = 0
        if end > kept:
            _note_cut(direction, end - max(at, kept), packet.time)
        at = end
    return DONE, at


@inlined
def _begin(direction: Any, packet: Any, size: Any) -> None:
    """A message begins that is not all in this segment."""
    if not direction.header_length:
        direction.start_time = packet.time
        direction.start_number = packet.number
    direction.header = 0
    direction.header_length = 0
    direction.size = size
    direction.left = size
    direction.carried = 0
    direction.broken = 0


@kernel
def _keep_header(direction: Any, packet: Any, data: Array, at: Any) -> None:
    """Of a size field there is only the beginning."""
    if not direction.header_length:
        direction.header = 0
        direction.start_time = packet.time
        direction.start_number = packet.number
    for index in range(packet.payload + at, packet.payload + packet.size):
        direction.header = np.int64(direction.header) << 8 | np.int64(data[index])
        direction.header_length += 1


@inlined
def _carry_on(lane: Lane, direction: Any, data: Array, begin: Any, end: Any) -> Any:
    """Put bytes of a message that began before behind the others; gives how many, below 0 where there is no room."""
    if end <= begin or direction.broken:
        return 0
    if not _has_room(lane, direction, np.int64(direction.carried) + end - begin):
        return -1
    copy(lane.carry, direction.carry + direction.carried, data, begin, end - begin)
    return end - begin


@inlined
def _has_room(lane: Lane, direction: Any, needed: Any) -> Any:
    """Make sure of room for the first so many bytes of a message; it stays for the messages that follow."""
    if needed <= direction.room:
        return True
    room = max(needed, min(np.int64(direction.size), max(_LEAST_ROOM, _AT_ONCE * needed)))
    to = lane.numbers[CARRY]
    if to + room > len(lane.carry):
        return False
    copy(lane.carry, to, lane.carry, direction.carry, direction.carried)
    direction.carry = to
    direction.room = room
    lane.numbers[CARRY] = to + room
    return True


@inlined
def _describe(lane: Lane, packet: Any, began: Any, size: Any, file: Any, is_request: Any) -> None:
    """What is known of a message that this packet ends; `began`: the time and the number of the one that began it."""
    message = lane.message[0]
    message.size = size
    message.start_time, message.start_number = began
    message.end_time = packet.time
    message.end_number = packet.number
    message.file = file
    message.is_request = is_request


@kernel
def _note_cut(direction: Any, count: Any, time: Any) -> None:
    if not direction.cut_times:
        direction.cut_time = time
    direction.cut_bytes += count
    direction.cut_times += 1
