"""Room for the bytes of unfinished messages: what is no part of one any more is forgotten."""

import numpy as np

from netdiag.traffic.engine.compiled.lane_state import CARRY, SLOTS_EVER, Lane

_CARRY_OF_ONE, _FEW_DIRECTIONS = 64, 1 << 14


def compacted_carry(lane: Lane, least: int) -> Lane:
    """Room for `least` more bytes of unfinished messages: those that are not unfinished any more are forgotten."""
    ever = 2 * int(lane.numbers[SLOTS_EVER])
    holding = np.flatnonzero(lane.directions["room"][:ever])
    is_over = lane.directions["left"][holding] == 0
    lane.directions["room"][holding[is_over]] = 0
    unfinished = holding[~is_over]
    needed = int(lane.directions["room"][unfinished].sum()) + least
    size = len(lane.carry)
    # To look through many directions takes long, so it is done less often.
    while size < max(2 * needed, _CARRY_OF_ONE * (ever - _FEW_DIRECTIONS)):
        size *= 2
    carry = lane.carry if size == len(lane.carry) else np.zeros(size, "u1")
    at = 0
    # In the order in which they lie there, none is moved to where another one still is.
    for index in unfinished[np.argsort(lane.directions["carry"][unfinished])].tolist():
        begin, carried, room = (int(lane.directions[name][index]) for name in ("carry", "carried", "room"))
        carry[at : at + carried] = lane.carry[begin : begin + carried]
        lane.directions["carry"][index] = at
        at += room
    lane.numbers[CARRY] = at
    return lane._replace(carry=carry)
