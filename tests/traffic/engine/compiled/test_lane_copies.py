"""Blocks of what packets are known again by: taken when they are written to, given back."""

from netdiag.traffic.engine.compiled.lane_copies import free_places, give_back, places_of, take_places
from netdiag.traffic.engine.compiled.lane_state import BLOCK, BLOCKS, BLOCKS_EVER, more_blocks
from tests.traffic.engine.compiled.lanes import taken_lane


def test_a_direction_takes_as_many_blocks_as_it_has_entries_for() -> None:
    lane = taken_lane()
    free = int(lane.numbers[BLOCKS])
    first = take_places(lane, 3, 0, BLOCK + 1)
    other = take_places(lane, 4, 32, 1)
    assert free - int(lane.numbers[BLOCKS]) == 3
    assert len({*first.tolist(), *other.tolist()}) == BLOCK + 2
    assert take_places(lane, 3, 0, 2 * BLOCK)[: BLOCK + 1].tolist() == first.tolist()
    assert places_of(lane, 3, BLOCK, 1).tolist() == first[BLOCK:].tolist()
    assert free - int(lane.numbers[BLOCKS]) == 3


def test_blocks_that_were_given_back_are_free() -> None:
    lane = taken_lane()
    before = sorted(lane.free_blocks[: lane.numbers[BLOCKS]].tolist())
    for number, back in ((0, give_back), (1, free_places)):
        take_places(lane, number, 0, 64)
        assert lane.numbers[BLOCKS] < len(before)
        back(lane, number)
        assert sorted(lane.free_blocks[: lane.numbers[BLOCKS]].tolist()) == before
        assert (lane.blocks[number] < 0).all()


def test_more_blocks_are_other_ones() -> None:
    lane = taken_lane()
    taken = set(take_places(lane, 0, 0, 64).tolist())
    larger, known = more_blocks(lane), len(lane.free_blocks)
    free = larger.free_blocks[: larger.numbers[BLOCKS]].tolist()
    assert len(set(free)) == len(free) == larger.numbers[BLOCKS_EVER] - 16
    assert max(free) >= known
    assert BLOCK * (max(free) + 1) <= len(larger.remembered)
    assert taken.isdisjoint(BLOCK * block for block in free)
