"""Pairs are known again by what they say, whenever that was and whatever their correlation id."""

from typing import Any

import numpy as np
import pytest

from netdiag.traffic.engine.compiled import recognizing
from netdiag.traffic.engine.compiled.layout import FACTS, FROM_TWIN, NOTHING, PAIR
from netdiag.traffic.engine.compiled.recognizing import ALL, FACTS_USED, LARGEST, MOST, ODD, UNKNOWN, Shapes
from tests.traffic.engine.compiled.exchanges import FakeStore
from tests.traffic.engine.compiled.test_read_back import store

ASKED, SAID = b"\x00\x03\x00\x0cABCDasked", b"ABCDsaid"
SIDE = np.zeros(4, FACTS)
SIDE["size"] = [7, 9, 0, 0]


def messages(*parts: bytes) -> FakeStore:
    return store(*((part, len(part)) for part in parts))


def recognized(shapes: Shapes, both: FakeStore, *numbers: tuple[int, int]) -> tuple[tuple[int, int], Any, Any]:
    pairs = np.zeros(len(numbers), PAIR)
    pairs["asked"], pairs["answer"] = zip(*numbers, strict=True)
    side = np.zeros(2 * len(numbers), FACTS)
    shapes.counts[FACTS_USED] = 0
    why = recognizing.recognize(pairs, np.arange(len(pairs)), 0, both.facts, both.raw, shapes, side)
    return why, pairs, side[: shapes.counts[FACTS_USED]]


def test_what_was_learned_is_told_of_each_that_says_the_same() -> None:
    shapes = recognizing.learned(recognizing.new_shapes(), messages(ASKED, SAID), (0, 1), (-2, -3), SIDE)
    both = messages(ASKED.replace(b"ABCD", b"EFGH"), SAID.replace(b"ABCD", b"EFGH"))
    both.facts["correlation_id"], both.facts["start_time"], both.facts["file"] = 77, 1000, 2
    why, pairs, side = recognized(shapes, both, (0, 1), (0, 1))
    assert why == (ALL, 2)
    assert [*zip(pairs["asked"].tolist(), pairs["answer"].tolist(), strict=True)] == [(-2, -3), (-4, -5)]
    assert side["size"].tolist() == [7, 9, 7, 9]
    for name in ("correlation_id", "start_time", "end_time", "end_number", "file"):
        assert set(side[name].tolist()) == set(both.facts[name].tolist())


@pytest.mark.parametrize("place", [0, 3, 8, len(ASKED) - 1])
def test_another_request_is_another_pair(place: int) -> None:
    shapes = recognizing.learned(recognizing.new_shapes(), messages(ASKED, SAID), (0, 1), (-2, -3), SIDE)
    other = ASKED[:place] + b"?" + ASKED[place + 1 :]
    assert recognized(shapes, messages(other, SAID), (0, 1))[0] == (UNKNOWN, 0)


@pytest.mark.parametrize("said", [SAID + b"!", SAID[:-1], SAID[:4] + b"SAID"])
def test_another_response_is_another_pair(said: bytes) -> None:
    shapes = recognizing.learned(recognizing.new_shapes(), messages(ASKED, SAID), (0, 1), (-2, -3), SIDE)
    assert recognized(shapes, messages(ASKED, said), (0, 1))[0] == (UNKNOWN, 0)
    assert recognized(shapes, messages(ASKED, SAID), (0, NOTHING))[0] == (UNKNOWN, 0)
    cut = messages(ASKED, SAID)
    cut.facts["size"][1] += 1
    assert recognized(shapes, cut, (0, 1))[0] == (UNKNOWN, 0)


def test_a_record_stays_where_it_is() -> None:
    both = messages(ASKED, SAID)
    both.facts["raw"][0] = NOTHING
    both.facts["api_key"][0] = 3
    shapes = recognizing.learned(recognizing.new_shapes(), both, (0, 1), (0, -2), SIDE)
    why, pairs, side = recognized(shapes, both, (0, 1))
    assert (why, pairs["asked"][0], pairs["answer"][0], len(side)) == ((ALL, 1), 0, -2, 1)
    both.facts["api_key"][0] = 4
    assert recognized(shapes, both, (0, 1))[0] == (UNKNOWN, 0)


@pytest.mark.parametrize("numbers", [(FROM_TWIN, 1), (NOTHING, 1), (0, FROM_TWIN)])
def test_what_is_not_in_the_store_is_for_others(numbers: tuple[int, int]) -> None:
    assert recognized(recognizing.new_shapes(), messages(ASKED, SAID), numbers)[0] == (ODD, 0)


@pytest.mark.parametrize(("asked", "said"), [(ASKED[:7], SAID), (ASKED, SAID[:3]), (ASKED, bytes(LARGEST + 1))])
def test_neither_what_is_too_short_nor_what_is_long(asked: bytes, said: bytes) -> None:
    assert recognized(recognizing.new_shapes(), messages(asked, said), (0, 1))[0] == (ODD, 0)


def test_no_more_than_so_many_are_known() -> None:
    shapes = recognizing.new_shapes()
    for number in range(3 * MOST):
        both = messages(ASKED + number.to_bytes(2, "big"), SAID + bytes(number % 2 * (LARGEST - len(SAID))))
        assert recognized(shapes, both, (0, 1))[0] == (UNKNOWN, 0)
        shapes = recognizing.learned(shapes, both, (0, 1), (-2, -3), SIDE)
        assert recognized(shapes, both, (0, 1))[0] == (ALL, 1)
        assert len(shapes.data) <= 4 * MOST * LARGEST
    recognizing.clear(shapes)
    assert recognized(shapes, both, (0, 1))[0] == (UNKNOWN, 0)
