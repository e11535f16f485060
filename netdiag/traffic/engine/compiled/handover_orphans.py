"""Responses without a request between a connection's pairing and the arrays."""

from netdiag.traffic.engine.compiled.lane_orphans import with_room
from netdiag.traffic.engine.compiled.lane_state import FREE_ORPHAN, ORPHAN_HEADS, Lane
from netdiag.traffic.engine.compiled.layout import NOTHING
from netdiag.traffic.engine.message import Message
from netdiag.traffic.engine.pairing import Pairing


def check_in(lane: Lane, slot: int, pairing: Pairing) -> Lane:
    """Put those of a connection into the arrays, which may become larger."""
    row = lane.connections[slot]
    row["orphans_first"] = row["orphans_last"] = NOTHING
    row["orphans"] = 0
    while pairing.orphans:
        orphan = pairing.orphans.popleft()
        lane = with_room(lane, len(orphan.head))
        _append(lane, slot, orphan)
    return lane


def _append(lane: Lane, slot: int, orphan: Message) -> None:
    row, numbers, orphans = lane.connections[slot], lane.numbers, lane.orphans
    entry, head, kept = int(numbers[FREE_ORPHAN]), int(numbers[ORPHAN_HEADS]), len(orphan.head)
    numbers[FREE_ORPHAN] = orphans["next"][entry]
    numbers[ORPHAN_HEADS] += kept
    lane.orphan_heads[head : head + kept] = bytearray(orphan.head)
    correlation_id = int.from_bytes(orphan.head[:4], "big", signed=True)
    times = (orphan.start_time, orphan.end_time, orphan.start_number, orphan.end_number)
    orphans[entry] = (*times, head, kept, orphan.size, correlation_id, orphan.file, NOTHING)
    if row["orphans"]:
        orphans["next"][row["orphans_last"]] = entry
    else:
        row["orphans_first"] = entry
    row["orphans_last"] = entry
    row["orphans"] += 1


def check_out(lane: Lane, slot: int, pairing: Pairing) -> None:
    """Give those of a connection back."""
    row, numbers, orphans = lane.connections[slot], lane.numbers, lane.orphans
    entry = int(row["orphans_first"]) if row["orphans"] else NOTHING
    while entry != NOTHING:
        start, end, first, last, head, kept, size, _, file, following = orphans[entry].item()
        told = lane.orphan_heads[head : head + kept].tobytes()
        pairing.orphans.append(Message(False, size, told, None, start, end, first, last, file))
        orphans["kept"][entry], orphans["next"][entry] = NOTHING, numbers[FREE_ORPHAN]
        numbers[FREE_ORPHAN] = entry
        entry = following
    row["orphans_first"] = row["orphans_last"] = NOTHING
    row["orphans"] = 0
