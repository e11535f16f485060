"""Responses whose request is not there, on connections in the arrays: the twin need not have these for that."""

from typing import Any

from netdiag.traffic.engine.compiled.front import Chunk
from netdiag.traffic.engine.compiled.handover import SECOND, LaneConnection
from netdiag.traffic.engine.compiled.lane_state import Lane
from netdiag.traffic.engine.compiled.layout import NOTHING
from netdiag.traffic.engine.dialogue import KEEP
from netdiag.traffic.engine.identify import SMALLEST_RESPONSE
from netdiag.traffic.engine.message import Message
from netdiag.traffic.engine.pairing import DIGESTED


def take_orphan(lane: Lane, connection: LaneConnection, chunk: Chunk, index: int, side: int, offset: int) -> int:
    """Take a response that begins at `offset` of a packet, and that no request waits for.

    Gives the offset behind it, or NOTHING where it is something else, or not all of it is in this packet.
    """
    packet, number = chunk.packets[index], 2 * connection.slot + side
    row, direction = lane.connections[connection.slot], lane.directions[number]
    begin, kept = int(packet["payload"]) + offset, int(packet["kept"]) - offset
    pairing = connection.pairing
    if pairing is None or row["client_side"] == side or direction["left"] or direction["header_length"]:
        return NOTHING
    if row["responses"] < DIGESTED or kept < 4 + SMALLEST_RESPONSE:
        return NOTHING
    size = _number(chunk.data, begin)
    if not SMALLEST_RESPONSE <= size <= min(kept - 4, KEEP):
        return NOTHING
    correlation_id = _number(chunk.data, begin + 4)
    if row["pending"] and not _is_before(lane, row, correlation_id):
        chain = connection.chain
        chain.first, chain.last, chain.count = (int(row[name]) for name in ("pending_first", "pending_last", "pending"))
        if correlation_id in chain:
            return NOTHING
    time, at = int(packet["time"]), int(packet["number"])
    head = chunk.data[begin + 4 : begin + 4 + size].tobytes()
    pairing.orphan(Message(False, size, head, None, time, time, at, at, chunk.file_of(index)))
    if row["orphans_high"] < row["orphans_low"]:
        row["orphans_low"] = row["orphans_high"] = correlation_id
    row["orphans_until"] = max(int(row["orphans_until"]), time + SECOND)
    row["orphans_low"] = min(int(row["orphans_low"]), correlation_id)
    row["orphans_high"] = max(int(row["orphans_high"]), correlation_id)
    row["responses"] += 1
    row["last_response"] = correlation_id
    direction["frames"] += 1
    direction["frame_bytes"] += 4 + size
    return offset + 4 + size


def _is_before(lane: Lane, row: Any, correlation_id: int) -> bool:
    """Whether an id is below all that wait."""
    return not row["unsorted"] and correlation_id < int(lane.pending["correlation_id"][row["pending_first"]])


def _number(data: Any, at: int) -> int:
    return int.from_bytes(data[at : at + 4].tobytes(), "big", signed=True)
