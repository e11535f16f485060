"""The bar: thinned and truncated captures against the whole one, message by message.

Conversations are built, so the truth is known from what was sent: where every message begins in its stream. A message
can be found when its first twelve bytes are in the capture without a hole.
"""

import random
import time
from collections.abc import Callable

import pytest

from netdiag.traffic.engine.packet import Segment
from tests.traffic.engine.test_dialogue_properties import Sent, conversation
from tests.traffic.engine.wire import MILLISECOND, Wire, framed

Report = Callable[[str, object], None]
Packets = list[tuple[int, Segment]]
NEEDED = 12


def built(rng: random.Random, messages: int, largest: int, flooded: bool) -> tuple[Wire, list[Sent], Packets]:
    """One connection: `largest` bytes in a segment; flooded with requests that do not wait for their responses."""
    wire = Wire(starts=(rng.getrandbits(32), rng.getrandbits(32)))
    talk = conversation(rng, messages)
    wire.open()
    packets: Packets = []
    pending = [b"", b""]
    for index, (side, message) in enumerate(talk):
        pending[side] += framed(message)
        following = talk[index + 1][0] if index + 1 < len(talk) else None
        if following == side and flooded and rng.random() < 0.5:
            continue
        data, pending[side] = pending[side], b""
        while data:
            packets.append((side, wire.packet(side, data[:largest], after=MILLISECOND // 4)))
            data = data[largest:]
    return wire, talk, packets


def truth(talk: list[Sent], packets: Packets, begins: tuple[int, int]) -> dict[tuple[bool, int, int], bool]:
    """Every message, by direction, position and size: whether its beginning is in the capture."""
    captured: tuple[dict[int, int], dict[int, int]] = ({}, {})
    for side, segment in packets:
        captured[side][(segment.sequence - begins[side]) & 0xFFFFFFFF] = len(segment.payload)
    out: dict[tuple[bool, int, int], bool] = {}
    for side in (0, 1):
        spans: list[list[int]] = []
        for start in sorted(captured[side]):
            end = start + captured[side][start]
            if spans and spans[-1][1] == start:
                spans[-1][1] = end
            else:
                spans.append([start, end])
        position = 0
        for sender, message in talk:
            if sender == side:
                whole = min(NEEDED, len(message) + 4)
                out[side == 0, position, len(message)] = any(a <= position and position + whole <= b for a, b in spans)
                position += len(message) + 4
    return out


def found(wire: Wire, packets: Packets, talk: list[Sent]) -> tuple[set[tuple[bool, int, int]], int, float]:
    """The messages found, at their true positions, how many are none, and the time that it took."""
    started = time.process_time()
    for side, segment in packets:
        wire.dialogue.push(side, segment)
    wire.dialogue.finish()
    took = time.process_time() - started
    true: dict[tuple[bool, bytes], tuple[bool, int, int]] = {}
    positions = [0, 0]
    for side, message in talk:
        true[side == 0, message[:8] if side == 0 else message[:4]] = (side == 0, positions[side], len(message))
        positions[side] += len(message) + 4
    hits: set[tuple[bool, int, int]] = set()
    invented = 0
    for got in wire.ear.messages:
        head = got.head[: 8 if got.is_request else 4]
        key = true.get((got.is_request, head))
        if key is not None and key[2] == got.size and key not in hits:
            hits.add(key)
        elif len(head) == (8 if got.is_request else 4):
            invented += 1
    return hits, invented, took


def measured(
    figure: Report, connections: int, messages: int, largest: int, flooded: bool, snap: int | None, lost: float
) -> None:
    rng = random.Random(f"{largest} {flooded} {snap} {lost}")
    total = findable = caught = seen = invented = 0
    whole_time = damaged_time = 0.0
    for _ in range(connections):
        wire, talk, packets = built(rng, messages, largest, flooded)
        begins = (wire.sent[0] - sum(s.length for side, s in packets if side == 0), 0)
        begins = (begins[0], wire.sent[1] - sum(s.length for side, s in packets if side == 1))
        thinned = [(side, s._replace(payload=s.payload[:snap])) for side, s in packets if rng.random() >= lost]
        can = truth(talk, thinned, begins)
        whole_time += found(wire, packets, talk)[2]
        second = Wire()
        second.sent = [begin - 1 for begin in begins]
        second.open()
        hits, wrong, took = found(second, thinned, talk)
        damaged_time += took
        invented += wrong
        total += len(can)
        findable += sum(can.values())
        caught += sum(1 for key, there in can.items() if there and key in hits)
        seen += len(hits)
    name = f"{'flooded, ' if flooded else ''}segments of {largest}, snaplen {snap}, {lost:.1%} lost"
    ratio = damaged_time / whole_time
    figure(name, f"{caught} of {findable} findable, {seen} of {total} ({seen / total:.2%}), {ratio:.2f} x the time")
    assert invented == 0
    assert caught == findable


CASES = [
    (largest, flooded, snap, lost)
    for largest in (1448, 65000)
    for flooded in (False, True)
    for snap, lost in ((None, 0.001), (None, 0.01), (30, 0.0), (62, 0.0), (190, 0.0), (30, 0.001))
]


@pytest.mark.bar("truth-under-loss")
@pytest.mark.parametrize(("largest", "flooded", "snap", "lost"), CASES)
def test_what_can_be_found_is_found(figure: Report, largest: int, flooded: bool, snap: int | None, lost: float) -> None:
    measured(figure, 4, 120, largest, flooded, snap, lost)


@pytest.mark.bar("truth-under-loss", long=True)
@pytest.mark.parametrize(("largest", "flooded", "snap", "lost"), CASES)
def test_what_can_be_found_is_found_in_much(
    figure: Report, largest: int, flooded: bool, snap: int | None, lost: float
) -> None:
    measured(figure, 60, 500, largest, flooded, snap, lost)
