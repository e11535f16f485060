"""The payload of ordinary segments cut into messages, as `Framer.cut` does it."""

from typing import Any

import numpy as np

from netdiag.traffic.engine.compiled.copying import copy
from netdiag.traffic.engine.compiled.kernel import inlined, kernel, merged
from netdiag.traffic.engine.compiled.lane_messages import take
from netdiag.traffic.engine.compiled.lane_state import CARRY, Array, Lane, Reading
from netdiag.traffic.engine.compiled.lane_unfinished import free_unfinished, take_unfinished, trouble_of
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
    payload, kept, length, at = packet.payload, np.int64(packet.kept), np.int64(packet.size), np.int64(start)
    while at < length:
        unfinished = lane.unfinished[np.int64(direction.unfinished)]
        left = np.int64(unfinished.left)
        if left:
            end = at + min(left, length - at)
            added = _carry_on(lane, unfinished, data, payload + at, payload + min(end, kept))
            if added < 0:
                return FULL, at
            if end < at + left:
                unfinished.carried += added
                unfinished.left -= end - at
                if end > kept:
                    _note_cut(lane, number, direction, end - max(at, kept), packet.time)
                    unfinished.broken = 1
                at = end
                continue
            source, begin = lane.carry, np.int64(unfinished.carry)
            until = begin + unfinished.carried + added
            size, began = np.int64(unfinished.size), (unfinished.start_time, unfinished.start_number)
        else:
            missing = 4 - np.int64(unfinished.header_length)
            if at + missing > kept:
                if kept < length:
                    return ODD_REST, at
                entry = take_unfinished(lane, direction)
                if not entry:
                    return FULL, at
                _keep_header(lane.unfinished[entry], packet, data, at)
                return DONE, length
            size = np.int64(unfinished.header)
            for index in range(missing):
                size = size << 8 | np.int64(data[payload + at + index])
            if size < least or size > LARGEST or size > KEEP:
                return ODD_REST, at
            end = at + missing + size
            if missing < 4 or end > length:
                entry = take_unfinished(lane, direction)
                if not entry:
                    return FULL, at
                _begin(lane.unfinished[entry], packet, size)
                at += missing
                continue
            source, begin = data, payload + at + 4
            until, began = max(begin, payload + min(end, kept)), (packet.time, packet.number)
        _describe(lane, packet, began, size, file, is_request)
        status = take(lane, reading, number >> 1, source, begin, until, left == 0)
        if status != DONE:
            return status, at
        _end(lane, number, direction, size, end - max(at, kept) if end > kept else 0, packet.time)
        at = end
    return DONE, at


@inlined
def _end(lane: Lane, number: Any, direction: Any, size: Any, lacks: Any, time: Any) -> None:
    """A message was read, of which the last segment lacks some bytes."""
    direction.frames += 1
    direction.frame_bytes += 4 + size
    free_unfinished(lane, direction)
    if lacks:
        _note_cut(lane, number, direction, lacks, time)


@inlined
def _begin(unfinished: Any, packet: Any, size: Any) -> None:
    """A message begins that is not all in this segment."""
    if not unfinished.header_length:
        unfinished.start_time = packet.time
        unfinished.start_number = packet.number
    unfinished.header = 0
    unfinished.header_length = 0
    unfinished.size = size
    unfinished.left = size
    unfinished.carried = 0
    unfinished.broken = 0


@kernel
def _keep_header(unfinished: Any, packet: Any, data: Array, at: Any) -> None:
    """Of a size field there is only the beginning."""
    if not unfinished.header_length:
        unfinished.header = 0
        unfinished.start_time = packet.time
        unfinished.start_number = packet.number
    for index in range(packet.payload + at, packet.payload + packet.size):
        unfinished.header = np.int64(unfinished.header) << 8 | np.int64(data[index])
        unfinished.header_length += 1


@inlined
def _carry_on(lane: Lane, unfinished: Any, data: Array, begin: Any, end: Any) -> Any:
    """Put bytes of a message that began before behind the others; gives how many, below 0 where there is no room."""
    if end <= begin or unfinished.broken:
        return 0
    if not _has_room(lane, unfinished, np.int64(unfinished.carried) + end - begin):
        return -1
    copy(lane.carry, unfinished.carry + unfinished.carried, data, begin, end - begin)
    return end - begin


@inlined
def _has_room(lane: Lane, unfinished: Any, needed: Any) -> Any:
    """Make sure of room for the first so many bytes of a message; it stays for the messages that follow."""
    if needed <= unfinished.room:
        return True
    room = max(needed, min(np.int64(unfinished.size), max(_LEAST_ROOM, _AT_ONCE * needed)))
    to = lane.numbers[CARRY]
    if to + room > len(lane.carry):
        return False
    copy(lane.carry, to, lane.carry, unfinished.carry, unfinished.carried)
    unfinished.carry = to
    unfinished.room = room
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
def _note_cut(lane: Lane, number: Any, direction: Any, count: Any, time: Any) -> None:
    trouble = trouble_of(lane, number, direction)
    if not trouble.cut_times:
        trouble.cut_time = time
    trouble.cut_bytes += count
    trouble.cut_times += 1
