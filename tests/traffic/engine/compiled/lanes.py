"""Arrays as they are when connections have taken their slots."""

from netdiag.traffic.engine.compiled.lane_state import SLOTS_EVER, Lane, new_lane


def taken_lane(carry: int = 1 << 22) -> Lane:
    """With all its slots taken, and nothing in them yet."""
    lane = new_lane(carry=carry)
    lane.numbers[SLOTS_EVER] = len(lane.connections)
    return lane
