"""What waits keeps its place among the messages."""

import numpy as np

from netdiag.traffic.engine.compiled.lane_state import more_pending, new_lane
from netdiag.traffic.engine.compiled.run_room import compacted_reading, new_reading, waiting_entries
from netdiag.traffic.engine.compiled.store import MESSAGES
from netdiag.traffic.engine.options import EngineOptions


def test_what_is_not_free_waits() -> None:
    lane = new_lane()
    assert not len(waiting_entries(lane))
    lane.pending["asked"][[5, 3]] = 0, -2
    assert waiting_entries(more_pending(lane)).tolist() == [3, 5]


def test_messages_move_together() -> None:
    reading = new_reading(EngineOptions())
    reading.store.counts[MESSAGES] = 5
    reading.store.facts["size"][:5] = range(5)
    reading.store.facts["raw"] = -1
    reading, moved = compacted_reading(reading, np.array([1, 4]))
    assert moved.tolist() == [-1, 0, -1, -1, 1]
    assert reading.store.facts["size"][:2].tolist() == [1, 4]
    assert reading.store.counts[MESSAGES] == 2
