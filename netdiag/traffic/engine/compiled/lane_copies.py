"""What packets are known again by, in the arrays: in blocks of a few entries, as most connections are short."""

from typing import Any

import numpy as np

from netdiag.traffic.engine.compiled.kernel import inlined, kernel
from netdiag.traffic.engine.compiled.lane_state import BLOCK, BLOCKS, MOST_BLOCKS, Array, Lane
from netdiag.traffic.engine.compiled.layout import NOTHING

assert BLOCK == 4


@inlined
def place_of(lane: Lane, number: Any, entry: Any) -> Any:
    """Where an entry of a direction is that was written before."""
    return np.int64(lane.blocks[number, entry >> 2]) << 2 | entry & 3


@inlined
def new_place(lane: Lane, number: Any, entry: Any) -> Any:
    """Where an entry of a direction is to be written; there must be a free block."""
    if lane.blocks[number, entry >> 2] < 0:
        lane.numbers[BLOCKS] -= 1
        lane.blocks[number, entry >> 2] = lane.free_blocks[lane.numbers[BLOCKS]]
    return place_of(lane, number, entry)


@inlined
def write_copy(copy: Any, packet: Any, place: Any, acknowledgement: Any, what: Any) -> None:
    """What a packet is known again by."""
    copy.time = packet.time
    copy.places = place + 1
    copy.sequence = packet.sequence
    copy.acknowledgement = acknowledgement
    copy.what = what
    copy.identification = packet.identification


@kernel
def free_places(lane: Lane, number: Any) -> None:
    """Nobody asks for the entries of a direction any more."""
    for index in range(MOST_BLOCKS):
        block = lane.blocks[number, index]
        if block >= 0:
            lane.blocks[number, index] = NOTHING
            lane.free_blocks[lane.numbers[BLOCKS]] = block
            lane.numbers[BLOCKS] += 1


def take_places(lane: Lane, number: int, begin: int, count: int) -> Array:
    """Where so many entries of a direction are to be written, from `begin` on; there must be free blocks for all."""
    blocks, numbers = lane.blocks[number], lane.numbers
    for index in range(begin // BLOCK, -(-(begin + count) // BLOCK)):
        if blocks[index] < 0:
            numbers[BLOCKS] -= 1
            blocks[index] = lane.free_blocks[numbers[BLOCKS]]
    return places_of(lane, number, begin, count)


def places_of(lane: Lane, number: int, begin: int, count: int) -> Array:
    """Where so many entries of a direction are, from `begin` on."""
    entries = np.arange(begin, begin + count)
    places: Array = lane.blocks[number, entries // BLOCK] * BLOCK + entries % BLOCK
    return places


def give_back(lane: Lane, number: int) -> None:
    """As `free_places`, for few."""
    blocks, free = lane.blocks[number], int(lane.numbers[BLOCKS])
    used = blocks[blocks >= 0]
    lane.free_blocks[free : free + len(used)] = used
    lane.numbers[BLOCKS] += len(used)
    blocks[:] = NOTHING
