"""Bytes of unfinished messages move together."""

from netdiag.traffic.engine.compiled.lane_carry import compacted_carry
from netdiag.traffic.engine.compiled.lane_state import CARRY
from tests.traffic.engine.compiled.lanes import taken_lane


def test_what_is_carried_moves_together() -> None:
    lane = taken_lane(carry=1000)
    for number, (begin, left) in enumerate(((100, 5), (300, 0), (600, 9))):
        lane.carry[begin : begin + 10] = number + 1
        for name, value in (("carry", begin), ("carried", 10), ("room", 20), ("left", left)):
            lane.directions[name][number] = value
    lane = compacted_carry(lane, 900)
    assert len(lane.carry) >= 940
    assert lane.numbers[CARRY] == 40
    assert lane.carry[:30].tolist() == [1] * 10 + [0] * 10 + [3] * 10
    assert lane.directions["carry"][:3].tolist() == [0, 300, 20]
    assert lane.directions["room"][:3].tolist() == [20, 0, 20]


def test_where_there_is_room_bytes_stay_in_the_same_array() -> None:
    lane = taken_lane(carry=1000)
    # Not in the order of their numbers.
    for number, (begin, left) in enumerate([(60, 5), (0, 5), (30, 0), (80, 5)]):
        lane.carry[begin : begin + 20] = number + 1
        for name, value in (("carry", begin), ("carried", 20), ("room", 20), ("left", left)):
            lane.directions[name][number] = value
    moved = compacted_carry(lane, 100)
    assert moved.carry is lane.carry
    assert moved.carry[:60].tolist() == [2] * 20 + [1] * 20 + [4] * 20
    assert lane.directions["carry"][[0, 1, 3]].tolist() == [20, 0, 40]
