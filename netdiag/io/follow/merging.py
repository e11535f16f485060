"""The packets of files in the order in which `captures` reads the same files when all of them are there.

That order depends on the files alone: of those that overlap, the earliest packet, and the file whose turn it is goes on
as long as no other has an earlier one. So it can be made piece by piece, as long as nothing is given that a file which
is not there yet could come before: nothing later than a time up to which all files are known, and nothing of other
files while one that is not over has no next packet yet.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from netdiag.io.follow.source import Source
from netdiag.traffic.engine.packet import Packet

_NEVER = 2**63


class Merge:
    """Sources that are read together."""

    def __init__(self) -> None:
        self._waiting: list[Source] = []
        self._open: list[Source] = []
        self._current: Source | None = None
        self._over: list[Source] = []

    @property
    def sources(self) -> dict[int, Source]:
        """Those that are not over, by number."""
        return {source.number: source for source in (*self._open, *self._waiting)}

    def add(self, source: Source) -> None:
        """One more file."""
        self._waiting.append(source)
        self._waiting.sort(key=lambda each: (each.first_time, each.path))

    def packets(self, until: int | None) -> Iterator[Packet]:
        """The packets up to a time (nanoseconds, None for all) that are sure to be the next."""
        last = _NEVER if until is None else until
        while (source := self._turn(last)) is not None:
            limit = min(last, self._limit(source))
            while (packet := source.head()) is not None and packet.time <= limit:
                source.take()
                yield packet
            if packet is not None:
                if packet.time > last:
                    return
                self._current = None
            elif source.is_over:
                self._open.remove(source)
                self._end(source)
            elif source.quiet:
                self._current = None
            else:
                return

    def ended(self) -> list[Source]:
        """The sources that have come to their end since the last time."""
        over, self._over = self._over, []
        return over

    def close(self) -> None:
        """Let go of all files."""
        for source in self.sources.values():
            source.close()

    def state(self) -> dict[str, Any]:
        """What `restored` goes on from."""
        return {
            "waiting": [source.state() for source in self._waiting],
            "open": [source.state() for source in self._open],
            "current": None if self._current is None else self._current.number,
        }

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> "Merge":
        """A merge that goes on where another one was."""
        made = cls()
        made._waiting = [Source.restored(each) for each in state["waiting"]]
        made._open = [Source.restored(each) for each in state["open"]]
        made._current = None if state["current"] is None else made.sources[state["current"]]
        return made

    def _turn(self, last: int) -> Source | None:
        """Whose turn it is; None where that cannot be told yet, or where nobody has a packet up to `last`."""
        if self._current is not None:
            return self._current
        while True:
            first, heads = _NEVER, []
            for source in list(self._open):
                head = source.head()
                if head is not None:
                    heads.append((head.time, source.path, source))
                    first = min(first, head.time)
                elif source.is_over:
                    self._open.remove(source)
                    self._end(source)
                elif not source.quiet:
                    return None
            if not self._waiting or self._waiting[0].first_time > first:
                break
            source = self._waiting[0]
            if source.head() is None and not source.is_over and not source.quiet:
                return None
            self._open.append(self._waiting.pop(0))
        if not heads or first > last:
            return None
        self._current = min(heads, key=lambda each: each[:2])[2]
        return self._current

    def _limit(self, source: Source) -> int:
        """Up to when a source goes on."""
        limit = self._waiting[0].first_time if self._waiting else _NEVER
        for other in self._open:
            if other is not source and (head := other.head()) is not None:
                limit = min(limit, head.time)
        return limit

    def _end(self, source: Source) -> None:
        source.close()
        self._over.append(source)
        if self._current is source:
            self._current = None
