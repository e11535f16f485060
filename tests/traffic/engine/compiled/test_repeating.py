"""Facts of bodies that come again are those that reading them again would give."""

import random

import pytest

from netdiag.traffic.engine.bodies import Bodies, RequestFacts
from netdiag.traffic.engine.compiled import repeating
from netdiag.traffic.engine.compiled.repeating import RepeatingBodies
from netdiag.traffic.tables import NAMES

METADATA, TABLES = 3, frozenset(NAMES)
# Metadata 1: null for all topics; one broker, a controller and one topic of one partition.
REQUEST = b"\xff\xff\xff\xff"
RESPONSE = (
    b"\x00\x00\x00\x01" + b"\x00\x00\x00\x01\x00\x01b\x00\x00\x23\x84\xff\xff" + b"\x00\x00\x00\x01"
    b"\x00\x00\x00\x01\x00\x00\x00\x01t\x00" + b"\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01" + bytes(8)
)


def test_equal_bodies_are_read_once() -> None:
    bodies = RepeatingBodies(TABLES)
    first = bodies.response_facts(METADATA, 1, RESPONSE, len(RESPONSE))
    assert first.topics == ("t",) or list(first.topics) == ["t"]
    assert first.decoded == "full"
    assert bodies.response_facts(METADATA, 1, memoryview(RESPONSE), len(RESPONSE)) is first
    asked = bodies.request_facts(METADATA, 1, REQUEST, len(REQUEST))
    assert bodies.request_facts(METADATA, 1, REQUEST, len(REQUEST)) is asked
    assert isinstance(asked, RequestFacts)


@pytest.mark.parametrize("seed", range(20))
def test_whatever_comes_the_facts_are_those_of_reading_it(seed: int) -> None:
    chance, bodies, plain = random.Random(seed), RepeatingBodies(TABLES), Bodies(TABLES)
    for _ in range(200):
        body = bytearray(RESPONSE[: chance.choice((len(RESPONSE), chance.randrange(len(RESPONSE))))])
        if body and chance.random() < 0.5:
            body[chance.randrange(len(body))] = chance.choice((0, 1, 255))
        key, version = chance.choice((METADATA, 10, 99)), chance.randrange(3)
        declared = len(body) + chance.choice((0, 0, 5))
        assert bodies.response_facts(key, version, bytes(body), declared) == plain.response_facts(
            key, version, bytes(body), declared
        )
        assert bodies.request_facts(key, version, bytes(body), declared) == plain.request_facts(
            key, version, bytes(body), declared
        )


def test_only_so_many_small_ones_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeating, "_MOST", 4)
    bodies = RepeatingBodies(TABLES)
    for number in range(20):
        body = RESPONSE + bytes([number])
        bodies.response_facts(METADATA, 1, body, len(body))
        assert len(bodies._answered) <= 4
    large = RESPONSE + bytes(5000)
    first = bodies.response_facts(METADATA, 1, large, len(large))
    assert bodies.response_facts(METADATA, 1, large, len(large)) is not first
