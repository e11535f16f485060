"""The linker's memory of the last segments, so that kernels can write into it; see `linking`.

A ring in the order in which they came first, and a table of their places by what they are known by, with linear
probing; whoever leaves the ring leaves the table, and those behind it move up.
"""

from typing import Any

import numpy as np

from netdiag.traffic.engine.compiled.kernel import kernel
from netdiag.traffic.engine.compiled.lane_state import SENT_COUNT, SENT_NEXT, SENT_SLOTS, Array, Lane
from netdiag.traffic.engine.linking import RECENT, SEEN_WITHIN, Linker
from netdiag.traffic.engine.packet import ACK, SYN, Segment

_LAST = SENT_SLOTS - 1


@kernel
def _place(sequence: Any, acknowledgement: Any, length: Any) -> Any:
    mixed = np.uint64(sequence) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= (np.uint64(acknowledgement) << np.uint64(16)) + np.uint64(length)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    return np.int64((mixed >> np.uint64(40)) & np.uint64(_LAST))


@kernel
def find_note(sent: Array, index: Array, sequence: Any, acknowledgement: Any, length: Any) -> Any:
    """Where in the ring it is; below 0: nowhere, and -1 - its place in the table would be free."""
    at = _place(sequence, acknowledgement, length)
    while index[at]:
        entry = index[at] - 1
        if (
            sent[entry].sequence == sequence
            and sent[entry].acknowledgement == acknowledgement
            and sent[entry].length == length
        ):
            return entry
        at = (at + 1) & _LAST
    return -1 - at


@kernel
def _drop(sent: Array, index: Array, entry: Any) -> None:
    """Take an entry out of the table."""
    hole = _place(sent[entry].sequence, sent[entry].acknowledgement, sent[entry].length)
    while index[hole] - 1 != entry:
        hole = (hole + 1) & _LAST
    at = (hole + 1) & _LAST
    while index[at]:
        other = index[at] - 1
        home = _place(sent[other].sequence, sent[other].acknowledgement, sent[other].length)
        if ((at - home) & _LAST) >= ((at - hole) & _LAST):
            index[hole] = index[at]
            hole = at
        at = (at + 1) & _LAST
    index[hole] = 0


@kernel
def note(
    sent: Array,
    index: Array,
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
    entry = find_note(sent, index, sequence, acknowledgement, length)
    if entry < 0:
        free = -1 - entry
        entry = numbers[SENT_NEXT]
        numbers[SENT_NEXT] = (entry + 1) % RECENT
        if numbers[SENT_COUNT] == RECENT:
            _drop(sent, index, entry)
            # What moved up may have left another place free.
            free = -1 - find_note(sent, index, sequence, acknowledgement, length)
        else:
            numbers[SENT_COUNT] += 1
        index[free] = entry + 1
        sent[entry].sequence = sequence
        sent[entry].acknowledgement = acknowledgement
        sent[entry].length = length
    sent[entry].source_port = source_port
    sent[entry].destination_port = destination_port
    sent[entry].number = number
    sent[entry].side = side
    sent[entry].time = time


class ArrayLinker(Linker[int]):
    """The twin's linker over the arrays."""

    def __init__(self, lane: Lane) -> None:
        super().__init__()
        self._ring, self._places, self._numbers = lane.sent, lane.sent_index, lane.numbers

    def find(self, segment: Segment) -> tuple[int, int] | None:
        """As the twin's."""
        if segment.flags & SYN:
            return super().find(segment)
        entry = find_note(self._ring, self._places, segment.sequence, segment.acknowledgement, segment.length)
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
        note(
            self._ring,
            self._places,
            self._numbers,
            segment.sequence,
            segment.acknowledgement,
            segment.length,
            segment.source_port,
            segment.destination_port,
            connection,
            side,
            segment.time,
        )
