"""Entries of unfinished messages, taken and given back; and what is counted of few."""

import numpy as np

from netdiag.traffic.engine.compiled.lane_state import UNFINISHED_EVER
from netdiag.traffic.engine.compiled.lane_unfinished import (
    forget_trouble,
    free_for,
    has_losses,
    take_for,
    trouble_of,
    trouble_row,
    with_unfinished,
)
from tests.traffic.engine.compiled.lanes import taken_lane


def test_a_direction_has_one_entry_and_the_next_one_gets_its_room() -> None:
    lane = taken_lane()
    first = take_for(lane, 7)
    assert first > 0
    assert take_for(lane, 7) == first
    assert take_for(lane, 8) not in (0, first)
    lane.unfinished["room"][first], lane.unfinished["left"][first] = 50, 3
    free_for(lane, 7)
    assert lane.directions["unfinished"][7] == 0
    assert take_for(lane, 9) == first
    assert (lane.unfinished["room"][first], lane.unfinished["left"][first]) == (50, 0)


def test_there_is_room_for_more_where_there_was_none() -> None:
    lane = taken_lane()
    taken = [int(take_for(lane, number)) for number in range(len(lane.unfinished) - 1)]
    assert take_for(lane, 100) == 0
    assert lane.directions["unfinished"][100] == 0
    larger = with_unfinished(lane)
    assert with_unfinished(larger) is larger
    assert take_for(larger, 100) == len(taken) + 1
    assert sorted(taken) == [*range(1, len(taken) + 1)]
    assert larger.numbers[UNFINISHED_EVER] == len(taken) + 2


def test_what_is_counted_of_few() -> None:
    lane = taken_lane()
    numbers = np.array([2, 3, 4, 5])
    assert trouble_row(lane, 3) == (0,) * 8
    for number, name in ((3, "cut_times"), (4, "duplicates")):
        trouble_of(lane, number, lane.directions[number])
        lane.trouble[name][number] = 2
    take_for(lane, 5)
    assert has_losses(lane, numbers).tolist() == [False, True, False, True]
    assert trouble_row(lane, 3) == (0, 0, 0, 0, 0, 0, 2, 0)
    forget_trouble(lane, 3, lane.directions[3])
    assert has_losses(lane, numbers).tolist() == [False, False, False, True]
    assert trouble_row(lane, 3) == (0,) * 8
    assert lane.trouble["cut_times"][3] == 0
