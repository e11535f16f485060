"""The ring of notes remembers what the twin's linker remembers."""

import random

from netdiag.traffic.engine.compiled.lane_notes import ArrayLinker
from netdiag.traffic.engine.compiled.lane_state import new_lane
from netdiag.traffic.engine.linking import RECENT, Linker
from netdiag.traffic.engine.packet import ACK, SYN
from tests.traffic.engine.segments import segment


def test_it_finds_what_the_twin_finds() -> None:
    rng = random.Random(4)
    ours, theirs = ArrayLinker(new_lane()), Linker[int]()
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
        connection, side = rng.randrange(20) - 10, rng.randrange(2)
        ours.note(made, connection, side)
        theirs.note(made, connection, side)
    assert found > RECENT
