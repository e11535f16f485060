"""Looking at the entries of requests that wait."""

import numpy as np

from netdiag.traffic.engine.compiled.lane_pending import before, latest, mark_free
from netdiag.traffic.engine.compiled.lane_state import FREE_PENDING, PENDING, new_lane
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


def test_what_is_free_is_marked() -> None:
    lane = new_lane()
    free = np.zeros(len(lane.pending), np.bool_)
    mark_free(lane.pending, int(lane.numbers[FREE_PENDING]), free)
    assert free.all()
