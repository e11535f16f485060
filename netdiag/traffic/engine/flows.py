"""The TCP connections of a capture: which one a segment belongs to, and on which side of it.

A connection is found by addresses and ports in either direction; under other addresses (behind translation) by
`linking`. A SYN with another initial sequence number on known addresses begins another connection (port reuse).
"""

from collections.abc import Callable, Mapping
from hashlib import blake2b
from typing import Any

from netdiag.traffic.engine.connection import Connection
from netdiag.traffic.engine.linking import Linker
from netdiag.traffic.engine.packet import ACK, SYN, Segment, Unreachable

Key = tuple[bytes, bytes, int, int, bytes]

SWEEP_EVERY = 5_000_000_000
CLOSED_FOR = 30_000_000_000
IDLE_FOR = 3600_000_000_000


class Flows:
    """Finds or makes the connection of each segment; `make` builds one from its number and first segment."""

    def __init__(
        self,
        make: Callable[[int, Segment], Connection],
        end: Callable[[Connection], None],
        max_connections: int,
    ) -> None:
        self._make = make
        self._end = end
        self._max = max_connections
        self.sides: dict[Key, tuple[Connection, int]] = {}
        # By number, so that what is over is not held on to.
        self.linker: Linker[int] = Linker()
        self.live: dict[int, Connection] = {}
        self.next_sweep = 0

    def push(self, segment: Segment) -> None:
        """Give a segment to its connection."""
        key = (
            segment.source,
            segment.destination,
            segment.source_port,
            segment.destination_port,
            segment.context,
        )
        found = self.sides.get(key)
        if found is None:
            found = self._find_or_make(key, segment)
        elif segment.flags & SYN and found[0].is_another(found[1], segment):
            self._forget(found[0])
            found = self._find_or_make(key, segment)
        connection, side = found
        if segment.time >= self.next_sweep:
            self._sweep(segment.time)
        connection.push(side, segment)
        self.linker.note(segment, connection.number, side)

    def unreachable(self, error: Unreachable) -> bool:
        """Tell the connection that an ICMP error is about; whether there is one."""
        key = (error.source, error.destination, error.source_port, error.destination_port, b"")
        found = self.sides.get(key)
        if found is None:
            return False
        found[0].unreachable()
        return True

    def state(self) -> dict[str, Any]:
        """What goes on where a capture goes on, see `state`."""
        return {"live": self.live, "sides": self.sides, "linker": self.linker, "next_sweep": self.next_sweep}

    def go_on(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave."""
        self.live, self.sides = state["live"], state["sides"]
        self.linker, self.next_sweep = state["linker"], state["next_sweep"]

    def finish(self) -> None:
        """The capture is over, and with it every connection."""
        for connection in list(self.live.values()):
            self._end(connection)
        self.live.clear()
        self.sides.clear()

    def _find_or_make(self, key: Key, segment: Segment) -> tuple[Connection, int]:
        known = self.linker.find(segment)
        linked = None if known is None else self.live.get(known[0])
        if known is not None and linked is not None:
            connection, side = linked, known[1]
            connection.also_seen(side, segment)
        else:
            side = 1 if segment.flags & SYN and segment.flags & ACK else 0
            connection = self._make(number_of(key, segment.time), segment)
            self.live[connection.number] = connection
            if self._count() > self._max:
                self._shed()
        back = (key[1], key[0], key[3], key[2], key[4])
        self.sides[key] = (connection, side)
        self.sides[back] = (connection, 1 - side)
        connection.keys += (key, back)
        return connection, side

    def _count(self) -> int:
        return len(self.live)

    def _sweep(self, now: int) -> None:
        self.next_sweep = now + SWEEP_EVERY
        over = [c for c in self.live.values() if c.last_time < now - (CLOSED_FOR if c.is_closed else IDLE_FOR)]
        for connection in over:
            self._forget(connection)

    def _shed(self) -> None:
        """Let go of the tenth that has been silent longest."""
        oldest = sorted(self.live.values(), key=lambda connection: connection.last_time)
        for connection in oldest[: max(1, self._max // 10)]:
            self._forget(connection)

    def _forget(self, connection: Connection) -> None:
        is_over = self.live.pop(connection.number, None) is None
        for key in connection.keys:
            if self.sides.get(key, (None, 0))[0] is connection:
                del self.sides[key]
        # It was let go when it had just begun: packets were out of order, and there were too many connections.
        if not is_over:
            self._end(connection)


def number_of(key: Key, time: int) -> int:
    """The number of a connection: the same in every run over the same packets, whoever computes it."""
    text = b"%d|%s|%s|%d|%d|%s" % (time, key[0], key[1], key[2], key[3], key[4])
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "big", signed=True)
