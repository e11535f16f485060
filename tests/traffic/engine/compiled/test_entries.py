"""Batches are counted as the plain summary counts them, also where they are damaged or are none."""

import random

import numpy as np
import pytest

from netdiag.kafka import protocol as wire
from netdiag.traffic.engine.bodies.records import MOST_BATCHES
from netdiag.traffic.engine.compiled.entries import wanted
from netdiag.traffic.engine.dialogue import KEEP
from tests.traffic.engine.compiled.messages import RECORDS, REQUEST, Both, Piece, header, mutated

BOTH = Both()


def _produce(records: bytes | None) -> bytes:
    value = {"acks": 1, "topic_data": [{"name": "t", "partition_data": [{"index": 2, "records": records}] * 2}]}
    return header(0, 7, REQUEST) + wire.encode(0, 7, REQUEST, value)


@pytest.mark.parametrize("large", [False, True])
def test_damaged_batches(large: bool) -> None:
    dice = random.Random(large)
    for number in range(600 if not large else 150):
        BOTH.forget()
        records = b"".join(each or b"" for each in dice.choices(RECORDS, k=dice.randrange(1, 3)))
        message = _produce(mutated(records, 0, dice) if number % 3 else records)
        place = dice.randrange(8, len(message))
        lost = dice.randrange(len(message) - place)
        pieces: list[Piece] = [message[8:place], lost, message[place + lost :]] if number % 2 else [message[8:]]
        pieces += [bytes(KEEP)] if large else []
        BOTH.check(message + bytes(KEEP) if large else message, [each for each in pieces if each], 0, 7, REQUEST)


def test_more_batches_than_are_told() -> None:
    one = RECORDS[-6]
    assert one is not None
    both = Both()
    batch = RECORDS[2]
    assert batch is not None
    message = _produce(batch[:8] + (49).to_bytes(4, "big") + batch[12:61])
    many = _produce((batch[:8] + (49).to_bytes(4, "big") + batch[12:61]) * (MOST_BATCHES // 2 + 9))
    assert len(many) > KEEP > len(message)
    both.check(many, [many[8:]], 0, 7, REQUEST)
    assert both.store.counts[2] == MOST_BATCHES


def test_how_much_of_an_entry_is_looked_at() -> None:
    for magic, size in ((0, 18), (1, 26), (2, 61), (3, 17), (255, 17)):
        assert wanted(np.full(17, magic, np.uint8), 0) == size
