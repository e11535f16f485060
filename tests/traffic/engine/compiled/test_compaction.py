"""What is kept tells the same after it has moved, and texts without a use go."""

import random

import numpy as np

from netdiag.traffic.engine.compiled import facts
from netdiag.traffic.engine.compiled.compaction import CROWDED_TEXTS, compacted, is_crowded
from netdiag.traffic.engine.compiled.store import as_large
from tests.traffic.engine.compiled.messages import REQUEST, RESPONSE, Both, random_message, said


def test_kept_messages_tell_the_same() -> None:
    both, dice = Both(), random.Random(4)
    numbers = {}
    for key, version in [(0, 9), (1, 11), (1, 13), (3, 9), (8, 7), (9, 8), (2, 6)] * 6:
        direction = dice.choice((REQUEST, RESPONSE))
        message = random_message(key, version, direction, dice)
        rest = message[8 if direction is REQUEST else 4 :]
        number = both.by_machine(message, [rest], key, version, direction is REQUEST)
        numbers[number] = direction
    for strings, elsewhere in ((False, False), (True, False), (False, True), (True, True)):
        read = {REQUEST: facts.request_facts, RESPONSE: facts.response_facts}
        before = {number: said(read[way](both.store, number, both.bodies)) for number, way in numbers.items()}
        kept = np.array([number for number in numbers if dice.random() < 0.7], np.int64)
        texts = int(both.store.strings.counts[0])
        old, untouched = both.store, [array.copy() for array in both.store[:8]]
        into = as_large(old) if elsewhere else None
        moved = compacted(old, kept, both.machines, strings=strings, into=into)
        both.store = moved.store
        if elsewhere:
            assert all(np.array_equal(array, before) for array, before in zip(old[:8], untouched, strict=True))
        assert (moved.strings is None) != strings
        assert (int(both.store.strings.counts[0]) < texts) == strings
        assert int(both.store.counts[6]) == len(kept)
        for number in kept.tolist():
            found = read[numbers[number]](both.store, int(moved.facts[number]), both.bodies)
            assert said(found) == before[number]
        numbers = {int(moved.facts[number]): numbers[number] for number in kept.tolist()}
    assert len(numbers) > 3


def test_a_crowd_of_texts_is_seen() -> None:
    both = Both()
    assert not is_crowded(both.store)
    both.store.strings.counts[0] = 3
    both.store.strings.bounds[3] = 1 << 27
    assert is_crowded(both.store)
    assert CROWDED_TEXTS > 1000
