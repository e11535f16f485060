"""Recognising a connection that is seen at several places: on a veth, on its bridge, behind address translation.

Translation changes addresses and the broker's port, never sequence and acknowledgement numbers, and the client's port
only where it is taken. So the first packet of a pair of addresses that nobody knows is held against the port and the
initial number of connections that have just been opened, and against the numbers of the last packets of all. Captures
that somebody made up repeat numbers, but not the client's port.
"""

from collections import deque
from collections.abc import Hashable
from typing import Generic, TypeVar

from netdiag.traffic.engine.packet import ACK, SYN, Segment

RECENT = 8192
OPENED_WITHIN = 3_000_000_000
SEEN_WITHIN = 1_000_000_000

C = TypeVar("C")
K = TypeVar("K", bound=Hashable)


class Linker(Generic[C]):
    """Remembers who sent which numbers lately."""

    def __init__(self) -> None:
        self._opened: _Recent[tuple[int, int], C] = _Recent()
        self._sent: _Recent[tuple[int, int, int], C] = _Recent()

    def find(self, segment: Segment) -> tuple[C, int] | None:
        """The connection, and its side, that sent this segment of an unknown pair of addresses, if it is known."""
        if not segment.flags & SYN:
            sent = self._sent.get(_numbers(segment), segment.time - SEEN_WITHIN)
            kept = sent is not None and (sent[2] == segment.source_port or sent[3] == segment.destination_port)
            return sent[:2] if sent is not None and kept else None
        since = segment.time - OPENED_WITHIN
        if not segment.flags & ACK:
            opened = self._opened.get((segment.sequence, segment.source_port), since)
            return None if opened is None else opened[:2]
        initial = (segment.acknowledgement - 1) & 0xFFFFFFFF
        opener = self._opened.get((initial, segment.destination_port), since)
        return None if opener is None else (opener[0], 1 - opener[1])

    def note(self, segment: Segment, connection: C, side: int) -> None:
        """Remember a segment of a known connection."""
        entry = (connection, side, segment.source_port, segment.destination_port, segment.time)
        if segment.flags & SYN and not segment.flags & ACK:
            self._opened.put((segment.sequence, segment.source_port), entry)
        else:
            self._sent.put(_numbers(segment), entry)


class _Recent(Generic[K, C]):
    """The last RECENT keys, also repeated ones, each with who sent it, on which side, from and to which port, and when.

    Of a key that is there more than once, the last is told. How often each is there stands in `_times`.
    """

    def __init__(self) -> None:
        self._entries: dict[K, tuple[C, int, int, int, int]] = {}
        self._order: deque[K] = deque()
        self._times: dict[K, int] = {}

    def get(self, key: K, since: int) -> tuple[C, int, int, int, int] | None:
        entry = self._entries.get(key)
        return None if entry is None or entry[4] < since else entry

    def put(self, key: K, entry: tuple[C, int, int, int, int]) -> None:
        times = self._times
        self._entries[key] = entry
        self._order.append(key)
        times[key] = times.get(key, 0) + 1
        if len(self._order) > RECENT:
            oldest = self._order.popleft()
            times[oldest] -= 1
            if not times[oldest]:
                del times[oldest], self._entries[oldest]


def _numbers(segment: Segment) -> tuple[int, int, int]:
    return (segment.sequence, segment.acknowledgement, segment.length)
