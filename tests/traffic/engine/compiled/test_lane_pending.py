"""Looking at the entries of requests that wait."""

import numpy as np

from netdiag.traffic.engine.compiled.lane_pending import before, give_up, latest
from netdiag.traffic.engine.compiled.lane_state import FREE_PENDING, PAIRS, PENDING, new_lane
from netdiag.traffic.engine.compiled.layout import NOTHING
from netdiag.traffic.engine.talk import WAITING


def test_a_chain_is_followed() -> None:
    pending = np.zeros(4, PENDING)
    for entry, correlation_id, following in ((2, 30, 0), (0, 10, 3), (3, 20, NOTHING)):
        pending[entry] = (7, correlation_id, correlation_id << 16, following, 0)
    assert [before(pending, 2, wanted) for wanted in (30, 10, 20, 40)] == [0, 1, 2, -1]
    found = np.zeros((WAITING, 2), "i8")
    assert latest(pending, 2, 3, found) == (0, 1)
    assert found[:3, 0].tolist() == [30, 10, 20]
    assert found[:3, 1].tolist() == [30 << 16, 10 << 16, 20 << 16]


def test_whose_requests_are_given_up_nobody_waits() -> None:
    lane = new_lane()
    first, second = 0, int(lane.pending["next"][0])
    lane.pending["asked"][[first, second]] = 5, 6
    lane.pending["next"][second] = NOTHING
    lane.numbers[FREE_PENDING] = second + 1
    given, entry = give_up(lane.pending, lane.numbers, lane.pairs, first, 1, 3)
    assert (given, entry) == (1, second)
    assert lane.pairs["asked"][: lane.numbers[PAIRS]].tolist() == [5]
    assert lane.pending["asked"].tolist() == [NOTHING, 6] + [NOTHING] * (len(lane.pending) - 2)
    assert lane.numbers[FREE_PENDING] == first
