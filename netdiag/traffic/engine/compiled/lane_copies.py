"""What packets are known again by, in the arrays: in blocks of a few entries, as most connections are short."""

from typing import Any

import numpy as np

from netdiag.traffic.engine.compiled.kernel import inlined, kernel
from netdiag.traffic.engine.compiled.lane_state import (
    BARE,
    BLOCK,
    BLOCKS,
    BLOCKS_EVER,
    FREE_BLOCK,
    NAMELESS,
    PLACE_SETS,
    SETS,
    Array,
    Lane,
)
from netdiag.traffic.engine.delivery import REMEMBERED

assert BLOCK == 4


@inlined
def new_place(lane: Lane, direction: Any) -> Any:
    """Where the next of the recent entries of a direction is to be written; there must be a free block."""
    count = np.int64(direction.recent)
    if count >= REMEMBERED:
        _free_chain(lane, direction.older_first, direction.older)
        direction.older_first = direction.recent_first
        direction.older = count
        count = np.int64(0)
    if count & 3 == 0:
        numbers = lane.numbers
        block = np.int64(numbers[FREE_BLOCK])
        if block < 0:
            block = np.int64(numbers[BLOCKS_EVER])
            numbers[BLOCKS_EVER] += 1
        else:
            numbers[FREE_BLOCK] = lane.following[block]
        numbers[BLOCKS] -= 1
        if count:
            lane.following[direction.recent_last] = block
        else:
            direction.recent_first = block
        direction.recent_last = block
    direction.recent = count + 1
    return np.int64(direction.recent_last) << 2 | count & 3


@inlined
def known_place(lane: Lane, first: Any, count: Any, sequence: Any, acknowledgement: Any, what: Any) -> Any:
    """Which of `count` entries from a block on is of the same key: of payload, whatever its length; else below 0."""
    block = np.int64(first)
    left = np.int64(count)
    while left > 0:
        begin: Any = block << 2
        for place in range(begin, begin + min(left, 4)):
            copy = lane.remembered[place]
            if copy.sequence != sequence:
                continue
            if what & BARE:
                if what_of(copy) == what and copy.acknowledgement == acknowledgement:
                    return place
            elif not copy.what & BARE:
                return place
        left -= 4
        if left > 0:
            block = np.int64(lane.following[block])
    return -1


@inlined
def what_of(copy: Any) -> Any:
    """Its length, or window and flags."""
    return np.int64(copy.what) & ~NAMELESS


@inlined
def write_copy(copy: Any, packet: Any, place: Any, acknowledgement: Any, what: Any) -> None:
    """What a packet is known again by."""
    copy.time = packet.time
    copy.places = place + 1
    copy.sequence = packet.sequence
    copy.acknowledgement = acknowledgement
    copy.what = what | (NAMELESS if packet.identification < 0 else 0)
    copy.identification = packet.identification & 0xFFFF


@inlined
def is_named_as(copy: Any, packet: Any) -> Any:
    """Whether both have the same identification."""
    nameless = copy.what & NAMELESS != 0
    if packet.identification < 0:
        return nameless
    return not nameless and copy.identification == packet.identification


@inlined
def mask_of(lane: Lane, places: Any) -> Any:
    """The places with 16 bits each."""
    return np.uint64(places) if places < SETS else np.uint64(lane.place_sets[places - SETS])


@kernel
def places_of_mask(lane: Lane, mask: Any) -> Any:
    """What COPY has for them; below 0 where there is no room for another set."""
    if mask < SETS:
        return np.int64(mask)
    numbers = lane.numbers
    for index in range(numbers[PLACE_SETS] - 1, -1, -1):
        if lane.place_sets[index] == mask:
            return np.int64(SETS + index)
    if numbers[PLACE_SETS] >= len(lane.place_sets):
        return np.int64(-1)
    lane.place_sets[numbers[PLACE_SETS]] = mask
    numbers[PLACE_SETS] += 1
    return np.int64(SETS + numbers[PLACE_SETS] - 1)


@kernel
def _free_chain(lane: Lane, first: Any, count: Any) -> None:
    block = np.int64(first)
    left = np.int64(count)
    while left > 0:
        following = np.int64(lane.following[block])
        lane.following[block] = lane.numbers[FREE_BLOCK]
        lane.numbers[FREE_BLOCK] = block
        lane.numbers[BLOCKS] += 1
        block = following
        left -= 4


@kernel
def free_places(lane: Lane, number: Any) -> None:
    """Nobody asks for the entries of a direction any more."""
    direction = lane.directions[number]
    _free_chain(lane, direction.recent_first, direction.recent)
    _free_chain(lane, direction.older_first, direction.older)
    direction.recent = direction.older = 0


@kernel
def take_places(lane: Lane, number: Any, found: Any) -> None:
    """As `new_place`, as often as there is room in `found`, of the direction of that number."""
    for index in range(len(found)):
        found[index] = new_place(lane, lane.directions[number])


@kernel
def turn_over(lane: Lane, number: Any) -> None:
    """The recent entries of a direction are the older ones, of which there were none."""
    direction = lane.directions[number]
    direction.older_first, direction.older = direction.recent_first, direction.recent
    direction.recent = 0


def places_of(lane: Lane, number: int, name: str) -> Array:
    """Where the entries of a direction are, "recent" or "older" ones."""
    row = lane.directions[number]
    count, block = int(row[name]), int(row[name + "_first"])
    places: list[int] = []
    while len(places) < count:
        places += range(BLOCK * block, BLOCK * (block + 1))
        block = int(lane.following[block])
    return np.array(places[:count], np.int64)
