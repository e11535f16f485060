"""The bar: thinned and truncated captures against the whole one, message by message.

Conversations are built, so the truth is known from what was sent: where every message begins in its stream. A message
can be found when its first twelve bytes are in the capture without a hole.
"""

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

import pytest

from tests.native.packets import ACK, PSH, Packet, TcpConnection
from tests.native.reading import rows_of_packets
from tests.native.test_delivery import SIZE, Sent, conversation, messages, truth

Report = Callable[[str, object], None]
NEEDED = 12
HEADERS = 54


class Segment(NamedTuple):
    """Bytes of a stream: which side sent them, from which byte on, how many there are."""

    side: int
    position: int
    length: int
    packet: Packet


def built(talk: TcpConnection, sent: Sequence[Sent], rng: random.Random, largest: int, flooded: bool) -> list[Segment]:
    """The packets of one connection: at most `largest` bytes in each; flooded with requests that do not wait for
    responses."""
    segments: list[Segment] = []
    pending, positions = [b"", b""], [0, 0]
    for index, (side, message) in enumerate(sent):
        pending[side] += message
        following = sent[index + 1][0] if index + 1 < len(sent) else None
        if following == side and flooded and rng.random() < 0.5:
            continue
        data, pending[side] = pending[side], b""
        for at in range(0, len(data), largest):
            part = data[at : at + largest]
            segments.append(Segment(side, positions[side], len(part), talk.packet(side, part, flags=ACK | PSH)))
            positions[side] += len(part)
    return segments


def findable(sent: Sequence[Sent], segments: Sequence[Segment]) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """The messages of each side, by correlation id and size, whose beginning is in the capture."""
    out: list[set[tuple[int, int]]] = []
    for side, known in enumerate(truth(sent)):
        spans: list[list[int]] = []
        for segment in segments:
            if segment.side == side:
                end = segment.position + len(segment.packet.data) - HEADERS
                if spans and spans[-1][1] == segment.position:
                    spans[-1][1] = end
                else:
                    spans.append([segment.position, end])
        position, found = 0, set()
        for number, size in known:
            whole = min(NEEDED, size + SIZE)
            if any(a <= position and position + whole <= b for a, b in spans):
                found.add((number, size))
            position += size + SIZE
        out.append(found)
    return out[0], out[1]


def measured(
    figure: Report, connections: int, count: int, largest: int, flooded: bool, snap: int | None, lost: float
) -> None:
    rng = random.Random(f"{largest} {flooded} {snap} {lost}")
    total = there = caught = seen = 0
    for _ in range(connections):
        talk = TcpConnection(
            sequences=(rng.getrandbits(32), rng.getrandbits(32)), snap=None if snap is None else snap + HEADERS
        ).open()
        sent = conversation(rng, count)
        segments = [segment for segment in built(talk, sent, rng, largest, flooded) if rng.random() >= lost]
        rows = rows_of_packets([*talk.packets, *(segment.packet for segment in segments)])
        for found, known, can in zip(messages(rows), truth(sent), findable(sent, segments), strict=True):
            assert len(set(found)) == len(found)
            assert set(found) <= set(known), "nothing is invented"
            total += len(known)
            there += len(can)
            caught += len(can & set(found))
            seen += len(found)
    name = f"{'flooded, ' if flooded else ''}segments of {largest}, snaplen {snap}, {lost:.1%} lost"
    figure(name, f"{caught} of {there} findable, {seen} of {total} ({seen / total:.2%})")
    assert caught == there


CASES = [
    (largest, flooded, snap, lost)
    for largest in (1448, 65_000)
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
