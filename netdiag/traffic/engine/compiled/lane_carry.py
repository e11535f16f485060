"""Room for the bytes of unfinished messages: what is no part of one any more is forgotten."""

import numpy as np

from netdiag.traffic.engine.compiled.lane_state import CARRY, UNFINISHED_EVER, Lane


def compacted_carry(lane: Lane, least: int) -> Lane:
    """Room for `least` more bytes of unfinished messages: those that are not unfinished any more are forgotten."""
    messages = lane.unfinished[: lane.numbers[UNFINISHED_EVER]]
    messages["room"][messages["left"] == 0] = 0
    holding = np.flatnonzero(messages["room"])
    needed = int(messages["room"][holding].sum()) + least
    size = len(lane.carry)
    while size < 2 * needed:
        size *= 2
    carry = lane.carry if size == len(lane.carry) else np.zeros(size, "u1")
    at = 0
    # In the order in which they lie there, none is moved to where another one still is.
    for index in holding[np.argsort(messages["carry"][holding])].tolist():
        begin, carried, room = (int(messages[name][index]) for name in ("carry", "carried", "room"))
        carry[at : at + carried] = lane.carry[begin : begin + carried]
        messages["carry"][index] = at
        at += room
    lane.numbers[CARRY] = at
    return lane._replace(carry=carry)
