"""The rows of a message stay together, whoever puts rows between them."""

import numpy as np

from netdiag.traffic.engine.compiled import machines as pool
from netdiag.traffic.engine.compiled import places
from netdiag.traffic.engine.compiled.interpreter import begin
from netdiag.traffic.engine.compiled.program import programs
from netdiag.traffic.engine.compiled.store import FORGOTTEN_ONES, LACKING, RAW, TOPICS, new_facts, store


def test_rows_move_behind_those_of_others() -> None:
    held, machines = store(2048, 1 << 13), pool.machines(2)
    for number in range(2):
        begin(held, machines, number, programs(), new_facts(held), True, 1, 4, 1000)
    for value in range(40):
        for number in range(2):
            held.topics[places.place(held, machines.state[number], TOPICS)] = 100 * number + value
    for number in range(2):
        rows = held.topics[slice(*held.facts[number]["topics"])]
        assert rows.tolist() == [100 * number + value for value in range(40)]
    assert held.counts[TOPICS] < 400


def test_bytes_move_likewise() -> None:
    held, machines = store(2048, 1 << 13), pool.machines(2)
    for number in range(2):
        begin(held, machines, number, programs(), new_facts(held), True, 1, 4, 1000)
    for value in range(30):
        for number in range(2):
            places.buffer(held, machines.state[number], np.array([9, number, value], np.uint8), 1, 2)
    for number in range(2):
        start = machines.state[number, pool.BUFFER]
        assert held.raw[start : start + 60].tolist() == [each for value in range(30) for each in (number, value)]


def test_where_there_is_no_room_nothing_is_written() -> None:
    held, machines = store(1024, 1 << 11), pool.machines(1)
    begin(held, machines, 0, programs(), new_facts(held), True, 1, 4, 1000)
    state = machines.state[0]
    assert places.has_room_for(held, state, 100)
    assert [places.place(held, state, FORGOTTEN_ONES) for _ in range(1030)][-6:] == [-1] * 6
    assert places.room_of(held, FORGOTTEN_ONES) == 0
    assert not places.has_room_for(held, state, 100)
    assert held.counts[LACKING] == FORGOTTEN_ONES
    places.buffer(held, state, np.zeros(5000, np.uint8), 0, 5000)
    assert state[pool.BUFFERED] == 0
    places.trim(held, state)
    assert held.counts[RAW] == 0
