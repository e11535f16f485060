"""What the next packets will need of the arrays, asked for while others are at work."""

from typing import Any

import numpy as np

from netdiag.traffic.engine.compiled.kernel import inlined
from netdiag.traffic.engine.compiled.lane_state import BLOCK, SLOTS_EVER, Array, Lane
from netdiag.traffic.engine.compiled.prefetching import LINE, prefetch

FEW = 1024
"""What is known of so many connections is in the caches anyway."""
_FIRST, _SECOND, _THIRD = 12, 8, 4


@inlined
def ask_ahead(lane: Lane, lanes: Array, keys: Array, packets: Array, index: Any) -> None:
    """Ask for what the packet after some more needs, in three steps: each needs what the one before asked for."""
    if lane.numbers[SLOTS_EVER] <= FEW or index + _FIRST >= len(packets):
        return
    key = np.int64(packets[index + _FIRST].key)
    prefetch(lanes, key, 0)
    prefetch(keys, key, 0)
    key = np.int64(packets[index + _SECOND].key)
    number = np.int64(lanes[key]) if key >= 0 else np.int64(-1)
    if number >= 0:
        for line in range(3):
            prefetch(lane.connections, number >> 1, line * LINE)
        # Both directions, which lie behind one another.
        for line in range(3):
            prefetch(lane.directions, number & ~1, line * LINE)
        prefetch(lane.versions[number >> 1], 0, 0)
    key = np.int64(packets[index + _THIRD].key)
    number = np.int64(lanes[key]) if key >= 0 else np.int64(-1)
    if number >= 0:
        direction = lane.directions[number]
        entry: Any = np.int64(direction.recent_last) * BLOCK + np.int64(direction.recent) % BLOCK
        prefetch(lane.remembered, entry, 0)
        prefetch(lane.pending, np.int64(lane.connections[number >> 1].pending_first), 0)
