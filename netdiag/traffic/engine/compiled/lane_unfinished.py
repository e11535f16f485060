"""Messages of which more is to come: what of them is there is kept apart, as few connections have one at a time."""

from typing import Any

import numpy as np

from netdiag.traffic.engine.compiled.kernel import inlined, kernel
from netdiag.traffic.engine.compiled.lane_rare import TROUBLE
from netdiag.traffic.engine.compiled.lane_state import (
    FREE_UNFINISHED,
    HAS_TROUBLE,
    UNFINISHED_EVER,
    Array,
    Lane,
    longer,
)


@inlined
def take_unfinished(lane: Lane, direction: Any) -> Any:
    """Give a direction an entry that says nothing, unless it has one; 0 where there is no room."""
    entry = np.int64(direction.unfinished)
    if entry:
        return entry
    numbers = lane.numbers
    entry = np.int64(numbers[FREE_UNFINISHED])
    if entry:
        numbers[FREE_UNFINISHED] = lane.unfinished[entry].next
    elif numbers[UNFINISHED_EVER] < len(lane.unfinished):
        entry = np.int64(numbers[UNFINISHED_EVER])
        numbers[UNFINISHED_EVER] += 1
    direction.unfinished = entry
    return entry


@inlined
def free_unfinished(lane: Lane, direction: Any) -> None:
    """The direction has none any more; room for bytes stays with the entry."""
    entry = np.int64(direction.unfinished)
    if entry:
        message = lane.unfinished[entry]
        message.size = message.left = message.carried = 0
        message.header = message.header_length = message.broken = 0
        message.next = lane.numbers[FREE_UNFINISHED]
        lane.numbers[FREE_UNFINISHED] = entry
        direction.unfinished = 0


@kernel
def take_for(lane: Lane, number: Any) -> Any:
    """As `take_unfinished`, of the direction of that number."""
    return take_unfinished(lane, lane.directions[number])


@kernel
def free_for(lane: Lane, number: Any) -> None:
    """As `free_unfinished`."""
    free_unfinished(lane, lane.directions[number])


@inlined
def trouble_of(lane: Lane, number: Any, direction: Any) -> Any:
    """What is counted of a direction that is not as most are."""
    direction.marks |= HAS_TROUBLE
    return lane.trouble[number]


@inlined
def forget_trouble(lane: Lane, number: Any, direction: Any) -> None:
    """Nothing is counted any more."""
    if direction.marks & HAS_TROUBLE:
        trouble = lane.trouble[number]
        trouble.duplicates = trouble.retransmissions = trouble.keep_alives = trouble.zero_windows = 0
        trouble.truncated_bytes = trouble.cut_bytes = trouble.cut_times = trouble.cut_time = 0
    direction.marks = 0


def with_unfinished(lane: Lane) -> Lane:
    """The same with room for one more."""
    known = len(lane.unfinished)
    if lane.numbers[FREE_UNFINISHED] or lane.numbers[UNFINISHED_EVER] < known:
        return lane
    return lane._replace(unfinished=longer(lane.unfinished, max(1024, 2 * known)))


def has_losses(lane: Lane, numbers: Array) -> Array:
    """Which of these directions have a message that is not all there, or was not."""
    which: Array = lane.directions["unfinished"][numbers] > 0
    troubled = np.flatnonzero(lane.directions["marks"][numbers] & HAS_TROUBLE)
    which[troubled] |= lane.trouble["cut_times"][numbers[troubled]] > 0
    return which


def trouble_row(lane: Lane, number: int) -> Any:
    """What is counted of it."""
    return (lane.trouble[number] if lane.directions["marks"][number] & HAS_TROUBLE else np.zeros((), TROUBLE)).item()
