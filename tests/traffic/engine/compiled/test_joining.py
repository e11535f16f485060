"""Partitions of a request are found for an answer as a dict of the plain engine would, however many there are."""

from random import Random

import numpy as np
import pytest

from netdiag.traffic.engine.compiled.arenas import Arenas
from netdiag.traffic.engine.compiled.joining import group_of, new_join, prepare, take, topic_of
from netdiag.traffic.engine.compiled.layout import BATCH, FACTS, FORGOTTEN, PARTITION

HAS_GROUP = 1 << 2


def arenas(keys: list[tuple[int, int, int]]) -> Arenas:
    """Partitions of (topic, number, group, -1 for none); texts have the numbers that are 10 larger."""
    rows = np.zeros(len(keys), PARTITION)
    for row, (topic, partition, group) in zip(rows, keys, strict=True):
        row["topic"], row["partition"], row["group"] = topic, partition, max(group, 0)
        row["present"] = HAS_GROUP if group >= 0 else 0
    texts, ids = np.arange(10, 20, dtype=np.int32), np.arange(5, 9, dtype=np.int32)
    nothing = np.zeros(0, np.int32)
    return Arenas(np.zeros(0, FACTS), nothing, rows, np.zeros(0, BATCH), np.zeros(0, FORGOTTEN), texts, ids)


def test_names_and_ids_have_the_numbers_of_the_rows() -> None:
    few = arenas([(3, 0, -1), (-2, 0, 4)])
    assert topic_of(few, 3) == 13
    assert topic_of(few, -2) == -2 - 5
    assert [group_of(few, row) for row in few.partitions] == [-1, 14]


@pytest.mark.parametrize("count", [0, 1, 12, 13, 500])
def test_each_key_is_taken_once_with_what_was_said_last(count: int) -> None:
    random = Random(count)
    keys = [(random.choice([0, 1, -2, -3]), random.randrange(12), random.choice([-1, 0, 1])) for _ in range(count)]
    join, all_of_them = new_join(max(1, count), 77), arenas(keys)
    waiting = {key: place for place, key in enumerate(keys)}
    first = list(dict.fromkeys(keys))
    assert prepare(join, all_of_them, 0, count) == len(first)
    assert join.rows[: len(first)].tolist() == [waiting[key] for key in first]
    for _ in range(count):
        topic, partition, group = key = random.choice([*keys, (2, 1, 1)])
        number = topic + 10 if topic >= 0 else -2 - (5 + -2 - topic)
        found = take(join, all_of_them, number, partition, group if group < 0 else group + 10)
        assert found == waiting.pop(key, -1)
    assert [bool(taken) for taken in join.taken[: len(first)]] == [key not in waiting for key in first]
