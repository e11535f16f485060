"""The linker's memory of the last segments, so that kernels can write into it; see `linking`.

A ring of notes, and beside it their sequence numbers alone. Every packet makes a note and few look for one: so a note
is cheap, and who looks goes through all of them.
"""

from typing import Any

import numpy as np

from netdiag.traffic.engine.compiled.kernel import inlined, kernel
from netdiag.traffic.engine.compiled.lane_state import NOTED, SYNS, Array, Lane
from netdiag.traffic.engine.linking import OPENED_WITHIN, RECENT, SEEN_WITHIN, Linker
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


@kernel
def find_syn(syns: Array, sequences: Array, numbers: Array, sequence: Any, port: Any) -> Any:
    """Where in their ring the last SYN with this sequence number from this port is; below 0: nowhere."""
    noted = numbers[SYNS]
    there = 0
    for place in range(min(noted, RECENT)):
        there += sequences[place] == sequence
    if not there:
        return -1
    for back in range(min(noted, RECENT)):
        place = (noted - 1 - back) & _LAST
        if sequences[place] == sequence and syns[place].source_port == port:
            return place
    return -1


@inlined
def note_syn(
    syns: Array,
    sequences: Array,
    numbers: Array,
    sequence: Any,
    source_port: Any,
    destination_port: Any,
    number: Any,
    side: Any,
    time: Any,
) -> None:
    """Remember a SYN."""
    place = numbers[SYNS] & _LAST
    numbers[SYNS] += 1
    sequences[place] = sequence
    entry = syns[place]
    entry.source_port = source_port
    entry.destination_port = destination_port
    entry.number = number
    entry.side = side
    entry.time = time


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
        self._syns, self._syn_sequences = lane.syns, lane.syn_sequences

    def find(self, segment: Segment) -> tuple[int, int] | None:
        """As the twin's."""
        if segment.flags & SYN:
            return self._find_syn(segment)
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

    def _find_syn(self, segment: Segment) -> tuple[int, int] | None:
        is_answer = bool(segment.flags & ACK)
        sequence = (segment.acknowledgement - 1) & 0xFFFFFFFF if is_answer else segment.sequence
        port = segment.destination_port if is_answer else segment.source_port
        entry = find_syn(self._syns, self._syn_sequences, self._numbers, np.uint32(sequence), port)
        if entry < 0 or self._syns["time"][entry] < segment.time - OPENED_WITHIN:
            return None
        return int(self._syns["number"][entry]), int(self._syns["side"][entry]) ^ is_answer

    def note(self, segment: Segment, connection: int, side: int) -> None:
        """As the twin's."""
        ports = (segment.source_port, segment.destination_port)
        if segment.flags & SYN and not segment.flags & ACK:
            place = int(self._numbers[SYNS]) & _LAST
            self._numbers[SYNS] += 1
            self._syn_sequences[place] = segment.sequence
            self._syns[place] = (connection, segment.time, 0, 0, *ports, side)
            return
        place = int(self._numbers[NOTED]) & _LAST
        self._numbers[NOTED] += 1
        self._sequences[place] = segment.sequence
        self._ring[place] = (connection, segment.time, segment.acknowledgement, segment.length, *ports, side)
