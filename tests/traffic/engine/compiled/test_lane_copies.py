"""Blocks of what packets are known again by: taken when they are written to, given back; and sets of places."""

import numpy as np

from netdiag.traffic.engine.compiled.lane_copies import (
    free_places,
    mask_of,
    places_of,
    places_of_mask,
    take_places,
    turn_over,
)
from netdiag.traffic.engine.compiled.lane_state import BLOCK, BLOCKS, SETS, Lane, more_blocks
from netdiag.traffic.engine.delivery import REMEMBERED
from tests.traffic.engine.compiled.lanes import taken_lane


def test_a_direction_takes_as_many_blocks_as_it_has_entries_for() -> None:
    lane = taken_lane()
    free = int(lane.numbers[BLOCKS])
    first = _taken(lane, 3, BLOCK + 1)
    other = _taken(lane, 4)[0]
    assert free - int(lane.numbers[BLOCKS]) == 3
    assert len({*first, other}) == BLOCK + 2
    assert places_of(lane, 3, "recent").tolist() == first
    assert places_of(lane, 3, "older").tolist() == []
    more = _taken(lane, 3, BLOCK - 1)
    assert free - int(lane.numbers[BLOCKS]) == 3
    assert places_of(lane, 3, "recent").tolist() == first + more


def test_of_many_the_last_and_those_before_them_are_kept() -> None:
    lane = taken_lane()
    free = int(lane.numbers[BLOCKS])
    taken = _taken(lane, 5, 3 * REMEMBERED + 2)
    assert places_of(lane, 5, "recent").tolist() == taken[-2:]
    assert places_of(lane, 5, "older").tolist() == taken[-2 - REMEMBERED : -2]
    assert free - int(lane.numbers[BLOCKS]) == REMEMBERED // BLOCK + 1
    free_places(lane, 5)
    assert int(lane.numbers[BLOCKS]) == free
    assert [int(lane.directions[name][5]) for name in ("recent", "older")] == [0, 0]


def test_recent_ones_become_older_ones() -> None:
    lane = taken_lane()
    taken = _taken(lane, 1, 6)
    turn_over(lane, 1)
    new = _taken(lane, 1)[0]
    assert places_of(lane, 1, "older").tolist() == taken
    assert places_of(lane, 1, "recent").tolist() == [new]


def test_no_block_is_given_twice() -> None:
    lane = taken_lane()
    held: dict[int, list[int]] = {number: _taken(lane, number, 20) for number in range(8)}
    free_places(lane, 2)
    del held[2]
    for number in (9, 10):
        held[number] = _taken(lane, number, 30)
    together = [place for places in held.values() for place in places]
    assert len({*together}) == len(together)


def test_more_blocks_are_other_ones() -> None:
    lane = taken_lane()
    known = len(lane.following)
    each = known * BLOCK // len(lane.directions)
    assert each == REMEMBERED, "so many fill all blocks of a lane at first"
    taken = {place for number in range(len(lane.directions)) for place in _taken(lane, number, each)}
    assert len(taken) == known * BLOCK
    assert lane.numbers[BLOCKS] == 0
    larger = more_blocks(lane)
    assert larger.numbers[BLOCKS] == len(larger.following) - known
    assert len(larger.remembered) == BLOCK * len(larger.following)
    assert _taken(larger, 0)[0] == BLOCK * known


def test_sets_of_places_are_known_again_until_there_are_too_many() -> None:
    lane = taken_lane()
    masks = [np.uint64(2 << 16 | 1), np.uint64(3 << 48 | 5 << 32 | 2 << 16 | 1)]
    numbers = [int(places_of_mask(lane, mask)) for mask in masks]
    assert numbers == [int(places_of_mask(lane, mask)) for mask in masks] == [SETS, SETS + 1]
    assert [int(mask_of(lane, number)) for number in numbers] == [int(mask) for mask in masks]
    assert int(places_of_mask(lane, np.uint64(7))) == 7 == int(mask_of(lane, 7))
    others = [int(places_of_mask(lane, np.uint64(SETS << 16 | index))) for index in range(len(lane.place_sets))]
    assert others[-1] == -1


def _taken(lane: Lane, number: int, count: int = 1) -> list[int]:
    found = np.empty(count, np.int64)
    take_places(lane, number, found)
    return [int(place) for place in found]
