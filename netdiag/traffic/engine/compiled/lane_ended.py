"""What rows of `connections` need of a connection that was opened in the kernels: kept until it is over, then told."""

from typing import Any

import numpy as np

from netdiag.traffic.engine.compiled.kernel import inlined, kernel
from netdiag.traffic.engine.compiled.lane_state import HAS_FIN, HAS_RST, HAS_TROUBLE, Array, Lane
from netdiag.traffic.engine.compiled.lane_wishes import ENDINGS, SOFTWARES
from netdiag.traffic.engine.compiled.layout import NOTHING
from netdiag.traffic.engine.compiled.numbering import digested
from netdiag.traffic.engine.pairing import DIGESTED_BYTES

NO_ROOM = NOTHING - 1
_SPACE = 0x20
_FIRST_WITH_SOFTWARE = 3
_VERSION, _CLIENT_ID_LENGTH, _CLIENT_ID = 7, 12, 14


@kernel
def keep_digest(lane: Lane, slot: Any, message: Any, data: Array, begin: Any, end: Any) -> None:
    """One of the first messages has its part in the digest."""
    birth = lane.births[slot]
    is_request = np.int64(message.is_request)
    count = min(end - begin, DIGESTED_BYTES)
    birth.digests[is_request] = digested(lane.hashing, birth.digests[is_request], message.size, data, begin, count)


@kernel
def software_of(lane: Lane, packet: Any, data: Array) -> Any:
    """The number of what a client calls itself in ApiVersions, which was looked at already.

    NOTHING where it does not, NO_ROOM where there is none for another one.
    """
    begin = np.int64(packet.payload)
    if data[begin + _VERSION] < _FIRST_WITH_SOFTWARE:
        return NOTHING
    length = np.int64(data[begin + _CLIENT_ID_LENGTH]) << 8 | np.int64(data[begin + _CLIENT_ID_LENGTH + 1])
    name = begin + _CLIENT_ID + (0 if length >= 1 << 15 else length) + 2
    name_end = name - 1 + np.int64(data[name - 1])
    version = name_end + 1
    version_end = version - 1 + np.int64(data[version - 1])
    size = name_end - name + 1 + version_end - version
    softwares, figures = lane.wishes.softwares, lane.wishes.figures
    for index in range(figures[SOFTWARES]):
        known = softwares[index]
        if known.length == size and _is_there(known.text, data, name, name_end, version, version_end):
            return np.int64(index)
    if figures[SOFTWARES] >= len(softwares):
        return NO_ROOM
    new = softwares[figures[SOFTWARES]]
    new.length = size
    for index in range(name, name_end):
        new.text[index - name] = data[index]
    new.text[name_end - name] = _SPACE
    for index in range(version, version_end):
        new.text[name_end - name + 1 + index - version] = data[index]
    figures[SOFTWARES] += 1
    return np.int64(figures[SOFTWARES] - 1)


@inlined
def _is_there(text: Array, data: Array, name: Any, name_end: Any, version: Any, version_end: Any) -> Any:
    """Whether a text of this length is a name, a space and a version."""
    at = name_end - name + 1
    others = np.int64(text[at - 1] != _SPACE)
    for index in range(name, name_end):
        others += text[index - name] != data[index]
    for index in range(version, version_end):
        others += text[at + index - version] != data[index]
    return others == 0


@kernel
def tell_end(lane: Lane, slot: Any) -> None:
    """It is over; there is room for another one."""
    figures = lane.wishes.figures
    ended = lane.wishes.ended[figures[ENDINGS]]
    figures[ENDINGS] += 1
    connection, birth = lane.connections[slot], lane.births[slot]
    ended.number = connection.number
    ended.first_time = connection.first_time
    ended.last_time = connection.last_time
    ended.requests = connection.requests
    ended.responses = connection.responses
    ended.stage = connection.stage
    ended.reset = connection.reset
    ended.asked = birth.asked
    ended.acknowledged = birth.acknowledged
    ended.key = birth.key
    ended.file = birth.file
    ended.interface = birth.interface
    ended.software = birth.software
    ended.context = connection.context
    low = np.uint64(birth.digests[1]) >> np.uint64(32)
    ended.digest = np.int64(np.uint64(birth.digests[0]) & np.uint64(0xFFFFFFFF00000000) | low)
    one, two = lane.directions[2 * slot], lane.directions[2 * slot + 1]
    ended.packets[0], ended.packets[1] = one.packets, two.packets
    ended.bytes[0], ended.bytes[1] = one.next - one.start, two.next - two.start
    ended.retransmissions = ended.duplicates = ended.zero_windows = ended.keep_alives = ended.truncated_bytes = 0
    for side in range(2):
        if lane.directions[2 * slot + side].marks & HAS_TROUBLE:
            trouble = lane.trouble[2 * slot + side]
            ended.retransmissions += trouble.retransmissions
            ended.duplicates += trouble.duplicates
            ended.zero_windows += trouble.zero_windows
            ended.keep_alives += trouble.keep_alives
            ended.truncated_bytes += trouble.truncated_bytes
    ended.fin = (one.marks | two.marks) & (HAS_FIN | HAS_RST)
