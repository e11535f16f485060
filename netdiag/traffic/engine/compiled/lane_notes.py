"""The linker's memory of the last segments, so that kernels can write into it; see `linking`.

A ring of notes, and beside it their sequence numbers alone. Every packet makes a note and few look for one: so a note
is cheap, and who looks goes through all of them.
"""

from typing import Any

import numpy as np

from netdiag.traffic.engine.compiled.kernel import inlined, kernel
from netdiag.traffic.engine.compiled.lane_state import NOTED, Array, Lane
from netdiag.traffic.engine.linking import RECENT, SEEN_WITHIN, Linker
from netdiag.traffic.engine.packet import ACK, SYN, Segment

_LAST = RECENT - 1
assert not RECENT & _LAST


@kernel
def find_note(sent: Array, sequences: Array, numbers: Array, sequence: Any, acknowledgement: Any, length: Any) -> Any:
    """Where in the ring the last such segment is; below 0: nowhere."""
    noted = numbers[NOTED]
    for back in range(min(noted, RECENT)):
        place = (noted - 1 - back) & _LAST
        if (
            sequences[place] == sequence
            and sent[place].acknowledgement == acknowledgement
            and sent[place].length == length
        ):
            return place
    return -1


@inlined
def note(
    sent: Array,
    sequences: Array,
    numbers: Array,
    sequence: Any,
    acknowledgement: Any,
    length: Any,
    source_port: Any,
    destination_port: Any,
    number: Any,
    side: Any,
    time: Any,
) -> None:
    """Remember a segment."""
    place = numbers[NOTED] & _LAST
    numbers[NOTED] += 1
    sequences[place] = sequence
    entry = sent[place]
    entry.acknowledgement = acknowledgement
    entry.length = length
    entry.source_port = source_port
    entry.destination_port = destination_port
    entry.number = number
    entry.side = side
    entry.time = time


class ArrayLinker(Linker[int]):
    """The twin's linker over the arrays."""

    def __init__(self, lane: Lane) -> None:
        super().__init__()
        self._ring, self._sequences, self._numbers = lane.sent, lane.sent_sequences, lane.numbers

    def find(self, segment: Segment) -> tuple[int, int] | None:
        """As the twin's."""
        if segment.flags & SYN:
            return super().find(segment)
        entry = find_note(
            self._ring,
            self._sequences,
            self._numbers,
            np.uint32(segment.sequence),
            np.uint32(segment.acknowledgement),
            segment.length,
        )
        if entry < 0:
            return None
        sent = self._ring[entry]
        if sent["time"] < segment.time - SEEN_WITHIN:
            return None
        if sent["source_port"] != segment.source_port and sent["destination_port"] != segment.destination_port:
            return None
        return int(sent["number"]), int(sent["side"])

    def note(self, segment: Segment, connection: int, side: int) -> None:
        """As the twin's."""
        if segment.flags & SYN and not segment.flags & ACK:
            super().note(segment, connection, side)
            return
        place = int(self._numbers[NOTED]) & _LAST
        self._numbers[NOTED] += 1
        self._sequences[place] = segment.sequence
        ports = (segment.source_port, segment.destination_port)
        self._ring[place] = (connection, segment.time, segment.acknowledgement, segment.length, *ports, side)
