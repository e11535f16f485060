"""The arrays grow and keep what is in them."""

from netdiag.traffic.engine.compiled.lane_state import (
    FREE_PENDING,
    HAS_TROUBLE,
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


def test_more_connections_keep_what_is_counted_of_few() -> None:
    lane = new_lane(4)
    lane.trouble["duplicates"][:] = range(8)
    lane.directions["marks"][[3, 5]] = HAS_TROUBLE
    assert more_slots(lane, 8).trouble["duplicates"].tolist() == [0, 0, 0, 3, 0, 5, *[0] * 10]
