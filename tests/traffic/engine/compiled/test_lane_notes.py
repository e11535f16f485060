"""The ring of notes remembers what the twin's linker remembers."""

import random
from types import SimpleNamespace
from typing import Any

from netdiag.traffic.engine.compiled.lane_notes import ArrayLinker
from netdiag.traffic.engine.compiled.lane_state import new_lane
from netdiag.traffic.engine.linking import RECENT, Linker
from netdiag.traffic.engine.packet import ACK, SYN
from tests.traffic.engine.segments import segment


def test_it_finds_what_the_twin_finds() -> None:
    rng = random.Random(4)
    live: dict[int, Any] = {number: SimpleNamespace(number=number) for number in range(20)}
    ours, theirs = ArrayLinker(new_lane(), live), Linker[Any]()
    found = 0
    for step in range(4 * RECENT):
        made = segment(
            f"10.0.0.1:{rng.choice((40_000, 40_001))}",
            f"10.0.0.2:{rng.choice((9092, 9093))}",
            sequence=rng.choice((rng.randrange(6000), 5)),
            acknowledgement=rng.randrange(2),
            flags=rng.choice((ACK, ACK, ACK, ACK, SYN, SYN | ACK)),
            time=step // 8,
        )
        known = ours.find(made)
        assert known == theirs.find(made)
        found += known is not None
        connection, side = live[rng.randrange(20)], rng.randrange(2)
        ours.note(made, connection, side)
        theirs.note(made, connection, side)
    assert found > RECENT


def test_what_is_over_is_forgotten() -> None:
    live: dict[int, Any] = {1: SimpleNamespace(number=1)}
    linker = ArrayLinker(new_lane(), live)
    linker.note(segment(), live[1], 1)
    assert linker.find(segment()) == (live[1], 1)
    del live[1]
    assert linker.find(segment()) is None
