"""Recognising a connection that is seen at several places: on a veth, on its bridge, behind address translation.

Translation changes addresses and ports, never sequence and acknowledgement numbers. So the first packet of a pair of
addresses that nobody knows is held against the initial sequence numbers of connections that have just been opened,
and against the numbers of the last packets of all; 64 bits of two numbers do not meet by chance.
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
        self._opened: _Recent[int, C] = _Recent()
        self._sent: _Recent[tuple[int, int, int], C] = _Recent()

    def find(self, segment: Segment) -> tuple[C, int] | None:
        """The connection, and its side, that sent this segment of an unknown pair of addresses, if it is known."""
        if not segment.flags & SYN:
            return self._sent.get(_numbers(segment), segment.time - SEEN_WITHIN)
        if not segment.flags & ACK:
            return self._opened.get(segment.sequence, segment.time - OPENED_WITHIN)
        opener = self._opened.get((segment.acknowledgement - 1) & 0xFFFFFFFF, segment.time - OPENED_WITHIN)
        return None if opener is None else (opener[0], 1 - opener[1])

    def note(self, segment: Segment, connection: C, side: int) -> None:
        """Remember a segment of a known connection."""
        if segment.flags & SYN and not segment.flags & ACK:
            self._opened.put(segment.sequence, (connection, side, segment.time))
        else:
            self._sent.put(_numbers(segment), (connection, side, segment.time))


class _Recent(Generic[K, C]):
    """The last RECENT keys, each with who sent it and when."""

    def __init__(self) -> None:
        self._entries: dict[K, tuple[C, int, int]] = {}
        self._order: deque[K] = deque()

    def get(self, key: K, since: int) -> tuple[C, int] | None:
        entry = self._entries.get(key)
        return None if entry is None or entry[2] < since else (entry[0], entry[1])

    def put(self, key: K, entry: tuple[C, int, int]) -> None:
        if key not in self._entries:
            self._order.append(key)
            if len(self._order) > RECENT:
                del self._entries[self._order.popleft()]
        self._entries[key] = entry


def _numbers(segment: Segment) -> tuple[int, int, int]:
    return (segment.sequence, segment.acknowledgement, segment.length)
