"""The arrays grow and keep what is in them."""

from netdiag.traffic.engine.compiled.lane_state import (
    FREE_PENDING,
    more_pending,
    more_slots,
    new_lane,
)
from netdiag.traffic.engine.compiled.layout import NOTHING


def test_more_connections() -> None:
    lane = new_lane(4)
    lane.connections["number"][3] = 7
    lane = more_slots(lane, 8)
    assert (len(lane.connections), len(lane.directions)) == (8, 16)
    assert lane.connections["number"][3] == 7


def test_more_pending_are_all_free() -> None:
    lane = new_lane()
    lane.numbers[FREE_PENDING] = lane.pending["next"][lane.numbers[FREE_PENDING]]
    lane = more_pending(lane)
    seen = []
    at = int(lane.numbers[FREE_PENDING])
    while at != NOTHING:
        seen.append(at)
        at = int(lane.pending["next"][at])
    assert sorted(seen) == [number for number in range(len(lane.pending)) if number]
