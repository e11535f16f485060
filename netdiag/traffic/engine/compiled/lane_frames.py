"""The payload of ordinary segments cut into messages, as `Framer.cut` does it."""

from typing import Any

import numpy as np

from netdiag.traffic.engine.compiled.kernel import kernel
from netdiag.traffic.engine.compiled.lane_messages import request, response
from netdiag.traffic.engine.compiled.lane_state import CARRY, Array, Lane, Reading
from netdiag.traffic.engine.compiled.layout import DONE, FULL, ODD_REST
from netdiag.traffic.engine.dialogue import KEEP
from netdiag.traffic.engine.identify import LARGEST, SMALLEST_REQUEST, SMALLEST_RESPONSE

_LEAST_ROOM = 2048


@kernel
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
        if direction.left:
            inside = min(np.int64(direction.left), length - at)
            status = _go_on(lane, reading, number, packet, data, at, inside, file, is_request)
            if status != DONE:
                return status, at
            at += inside
            continue
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
        begin = payload + at + 4
        until = max(begin, payload + min(end, kept))
        _describe(lane, direction, packet, size, file, is_request)
        status = _emit(lane, reading, number, data, begin, until)
        if status != DONE:
            return status, at
        if end > kept:
            _note_cut(direction, end - kept, packet.time)
        at = end
    return DONE, at


@kernel
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
    direction.room = 0
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


@kernel
def _go_on(
    lane: Lane,
    reading: Reading,
    number: Any,
    packet: Any,
    data: Array,
    at: Any,
    inside: Any,
    file: Any,
    is_request: Any,
) -> Any:
    """The next bytes of a message that began before."""
    direction = lane.directions[number]
    there = max(0, min(inside, np.int64(packet.kept) - at))
    carried: Any = np.int64(direction.carried)
    if there and not direction.broken:
        if not _has_room(lane, direction, carried + there):
            return FULL
        to, begin = direction.carry + carried, packet.payload + at
        for index in range(there):
            lane.carry[to + index] = data[begin + index]
        carried += there
    if inside == direction.left:
        _describe(lane, direction, packet, direction.size, file, is_request)
        lane.message[0].start_time = direction.start_time
        lane.message[0].start_number = direction.start_number
        status = _emit(lane, reading, number, lane.carry, direction.carry, direction.carry + carried)
        if status != DONE:
            return status
        carried = 0
        direction.room = 0
    if there < inside:
        _note_cut(direction, inside - there, packet.time)
        direction.broken = 1
    direction.carried = carried
    direction.left -= inside
    return DONE


@kernel
def _has_room(lane: Lane, direction: Any, needed: Any) -> Any:
    """Make sure of room for the first so many bytes of a message."""
    if needed <= direction.room:
        return True
    room = max(needed, min(np.int64(direction.size), max(_LEAST_ROOM, 2 * needed)))
    to = lane.numbers[CARRY]
    if to + room > len(lane.carry):
        return False
    begin, carried = direction.carry, np.int64(direction.carried)
    for index in range(carried):
        lane.carry[to + index] = lane.carry[begin + index]
    direction.carry = to
    direction.room = room
    lane.numbers[CARRY] = to + room
    return True


@kernel
def _describe(lane: Lane, direction: Any, packet: Any, size: Any, file: Any, is_request: Any) -> None:
    """What is known of a message that this packet ends; all of it in this packet, or else that is to be said."""
    message = lane.message[0]
    message.size = size
    message.start_time = packet.time
    message.end_time = packet.time
    message.start_number = packet.number
    message.end_number = packet.number
    message.file = file
    message.is_request = is_request


@kernel
def _emit(lane: Lane, reading: Reading, number: Any, data: Array, begin: Any, end: Any) -> Any:
    message = lane.message[0]
    if message.is_request:
        status = request(lane, reading, number >> 1, data, begin, end, message)
    else:
        status = response(lane, reading, number >> 1, data, begin, end, message)
    if status == DONE:
        lane.directions[number].frames += 1
        lane.directions[number].frame_bytes += 4 + np.int64(message.size)
    return status


@kernel
def _note_cut(direction: Any, count: Any, time: Any) -> None:
    if not direction.cut_times:
        direction.cut_time = time
    direction.cut_bytes += count
    direction.cut_times += 1
