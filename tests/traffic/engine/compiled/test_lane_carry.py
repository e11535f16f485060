"""Bytes of unfinished messages move together."""

from netdiag.traffic.engine.compiled.lane_carry import compacted_carry
from netdiag.traffic.engine.compiled.lane_state import CARRY, Lane
from netdiag.traffic.engine.compiled.lane_unfinished import take_for
from tests.traffic.engine.compiled.lanes import taken_lane


def _unfinished(lane: Lane, rows: list[tuple[int, int, int, int]]) -> list[int]:
    """One each of a direction, with where its bytes are, how many, the room, and what is left to come."""
    taken = []
    for number, (carry, carried, room, left) in enumerate(rows):
        entry = int(take_for(lane, number))
        row = lane.unfinished[entry]
        row["carry"], row["carried"], row["room"], row["left"] = carry, carried, room, left
        lane.carry[carry : carry + carried] = number + 1
        taken.append(entry)
    return taken


def test_what_is_carried_moves_together() -> None:
    lane = taken_lane(carry=1000)
    entries = _unfinished(lane, [(100, 10, 20, 5), (300, 10, 20, 0), (600, 10, 20, 9)])
    lane = compacted_carry(lane, 900)
    assert len(lane.carry) >= 940
    assert lane.numbers[CARRY] == 40
    assert lane.carry[:30].tolist() == [1] * 10 + [0] * 10 + [3] * 10
    assert lane.unfinished["carry"][entries].tolist() == [0, 300, 20]
    assert lane.unfinished["room"][entries].tolist() == [20, 0, 20]


def test_where_there_is_room_bytes_stay_in_the_same_array() -> None:
    lane = taken_lane(carry=1000)
    # Not in the order of their numbers.
    entries = _unfinished(lane, [(60, 20, 20, 5), (0, 20, 20, 5), (30, 20, 20, 0), (80, 20, 20, 5)])
    moved = compacted_carry(lane, 100)
    assert moved.carry is lane.carry
    assert moved.carry[:60].tolist() == [2] * 20 + [1] * 20 + [4] * 20
    assert lane.unfinished["carry"][[entries[0], entries[1], entries[3]]].tolist() == [20, 0, 40]
