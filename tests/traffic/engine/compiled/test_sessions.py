"""Fetch sessions in arrays tell the same offsets as those of the plain engine, also where they are too many."""

from random import Random
from typing import Any

import numpy as np
import pytest

from netdiag.traffic.engine.assemble import Asked
from netdiag.traffic.engine.bodies.facts import PartitionFacts, RequestFacts, ResponseFacts, Topic
from netdiag.traffic.engine.compiled.sessions import (
    begin,
    end,
    grown,
    has_room,
    new_sessions,
    numbers_used,
    offset_of,
    renumbered,
)
from netdiag.traffic.engine.compiled.side import Side
from netdiag.traffic.engine.headers import RequestHeader
from netdiag.traffic.engine.message import Message
from netdiag.traffic.engine.sessions import FetchSessions

NOTHING_TOLD = -(1 << 40)
TOPICS: list[Topic] = ["0", "1", bytes(16)]


@pytest.mark.parametrize(("sessions", "partitions"), [(4096, 500_000), (2, 500_000), (4096, 5), (1, 1)])
def test_the_offsets_are_those_of_the_plain_engine(sessions: int, partitions: int) -> None:
    random = Random(sessions + partitions)
    plain, compiled = FetchSessions(sessions, partitions), new_sessions(sessions, partitions)
    for step in range(400):
        asked, told = _request(random), random.choice([None, 0, 1, 2, 3])
        broker = random.randrange(2)
        known = plain.exchange(str(broker), asked, None if told is None else _response(told))
        arenas, number = _arrays(asked)
        if step == 200:
            assert not has_room(compiled, 1 << 20)
            compiled = grown(compiled, 10)
        slot = begin(compiled, broker, arenas, arenas.facts[number], NOTHING_TOLD if told is None else told)
        found = {}
        for topic, name in ((0, "0"), (1, "1"), (-2, bytes(16))):
            for partition in range(3):
                at = offset_of(compiled, slot, topic, partition)
                if at >= 0:
                    found[name, partition] = int(compiled.entries[at]["offset"])
        assert found == known
        end(compiled, slot)
        if step == 300:
            texts, ids = numbers_used(compiled)
            assert set(texts) <= {0, 1}
            assert set(ids) <= {0}
            # Nothing is called differently in the end.
            swapped = np.array([1, 0], np.int32)
            for _ in range(2):
                renumbered(compiled, swapped, np.array([0], np.int32))


def _request(random: Random) -> RequestFacts:
    facts = RequestFacts()
    facts.session_id, facts.session_epoch = random.choice([None, 0, 1, 2, 3]), random.choice([-1, 0, 1, 2])
    count = random.choice([0, 1, 4])
    facts.partitions = [_partition(random.choice(TOPICS), random.randrange(3), random) for _ in range(count)]
    facts.forgotten = [(random.choice(TOPICS), random.randrange(3)) for _ in range(random.choice([0, 0, 1]))]
    return facts


def _partition(topic: Any, partition: int, random: Random) -> PartitionFacts:
    nothing: dict[str, Any] = dict.fromkeys(PartitionFacts._fields)
    nothing |= {"topic": topic, "partition": partition, "offset": random.choice([None, -1, 5, 1 << 62])}
    return PartitionFacts(**nothing)


def _response(told: int) -> ResponseFacts:
    facts = ResponseFacts()
    facts.session_id = told
    return facts


def _arrays(facts: RequestFacts) -> tuple[Any, int]:
    side = Side(int, lambda number: number[0])
    header = RequestHeader(1, 12, 3, None, None, True)
    number = side.asked(Asked(header, Message(True, 9, b"", None, 1, 1, 1, 1, 0), facts))
    return side.arenas(2, 1), -2 - number
