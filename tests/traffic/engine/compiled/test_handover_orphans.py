"""Responses without a request go into the arrays and come back as they were, however many there are."""

from types import SimpleNamespace
from typing import Any, cast

from netdiag.traffic.engine.bodies import Bodies
from netdiag.traffic.engine.compiled.handover_orphans import check_in, check_out
from netdiag.traffic.engine.compiled.lane_state import FREE_ORPHAN, new_lane
from netdiag.traffic.engine.compiled.layout import NOTHING
from netdiag.traffic.engine.message import Message
from netdiag.traffic.engine.pairing import Pairing


def _pairing(seed: int, count: int) -> Pairing:
    made = Pairing(cast(Any, SimpleNamespace), Bodies(()))
    for number in range(count):
        head = (1000 * seed + number - 5).to_bytes(4, "big", signed=True) + bytes([number % 256]) * (7 * number % 900)
        made.orphans.append(Message(False, 20_000 + number, head, None, number, seed, 3 * number, 4 * number, seed))
    return made


def test_there_and_back() -> None:
    lane = new_lane(16, carry=1 << 10)
    pairings = [_pairing(seed, count) for seed, count in ((1, 64), (2, 0), (3, 1), (4, 64), (5, 33))]
    expected = [list(pairing.orphans) for pairing in pairings]
    for _ in range(12):
        for slot, pairing in enumerate(pairings):
            lane = check_in(lane, slot, pairing)
            assert not pairing.orphans
            assert lane.connections["orphans"][slot] == len(expected[slot])
        for slot, pairing in enumerate(pairings):
            check_out(lane, slot, pairing)
            assert list(pairing.orphans) == expected[slot]
            assert lane.connections["orphans"][slot] == 0
    free, entry = 0, int(lane.numbers[FREE_ORPHAN])
    while entry != NOTHING:
        free, entry = free + 1, int(lane.orphans["next"][entry])
    assert free == len(lane.orphans)
    assert len(lane.orphan_heads) < 1 << 19
