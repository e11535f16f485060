"""Rows and names that the kernels fill and ask for."""

import numpy as np

from netdiag.traffic.engine.account import LAST_TIME, Account
from netdiag.traffic.engine.compiled.front_keys import Keys
from netdiag.traffic.engine.compiled.front_rows import UNKNOWN, Names, Rows, name_of
from netdiag.traffic.engine.compiled.layout import NOTHING


def test_a_number_is_named_once_it_was_learnt() -> None:
    names = Names()
    assert name_of(names.arrays, 7) == UNKNOWN
    for value in range(0, 3000, 3):
        assert names.learn(value)
    for value in range(3000):
        number = name_of(names.arrays, value)
        assert (number == UNKNOWN) == bool(value % 3)
        assert number == UNKNOWN or names.names[number] == str(value)
    assert names.names[0] == ""


def test_a_full_list_has_no_number_for_a_new_name() -> None:
    names = Names()
    numbers = [names.number(f"eth{index}") for index in range(40_000)]
    assert numbers[:3] == [1, 2, 3]
    assert numbers[-1] == NOTHING
    assert names.number("eth0") == 1
    assert not names.learn(5)
    assert name_of(names.arrays, 5) == UNKNOWN


def test_rows_grow_and_keep_what_they_hold() -> None:
    rows = Rows(Keys(), Names())
    rows.packets["time"] = np.arange(len(rows.packets))
    rows.count = len(rows.packets)
    rows.grow()
    assert len(rows.packets) == 2 * rows.count
    assert rows.packets["time"][: rows.count].tolist() == list(range(rows.count))


def test_the_wanted_time_fits_into_64_bits() -> None:
    assert Rows.wanted(Account()) == (-1, LAST_TIME)
    assert Rows.wanted(Account(since=-(2**70), until=2**70)) == (-1, LAST_TIME)
    assert Rows.wanted(Account(since=5, until=9)) == (5, 9)


def test_room_that_few_packets_need_is_given_back() -> None:
    rows = Rows(Keys(), Names())
    least = len(rows.packets)
    for _ in range(3):
        rows.grow()
    rows.count = 2 * least
    rows.begin(memoryview(b""))
    assert len(rows.packets) == 8 * least
    for size in (4, 2, 1, 1):
        rows.begin(memoryview(b""))
        assert len(rows.packets) == size * least
