"""One capture from its first packet to its last: sources into an output, limits kept, losses told.

Several sources are put in order of time: a packet waits until every source has had the time to show an older one.
"""

import dataclasses
import select
import time
from collections.abc import Callable, Sequence
from dataclasses import field
from itertools import chain

from netdiag.errors import NetdiagError
from netdiag.io.packets.output import Output, ReaderGone
from netdiag.io.packets.pcapng_writer import PACKET_TIME, PACKET_TIME_AT, Counters, Interface
from netdiag.io.packets.source import Source
from netdiag.values import dataclass

_POLL_MS = 100
_TICK = 0.5
_PATIENCE = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When a capture ends by itself; `bytes` of its file, which the last packets may go beyond."""

    seconds: float | None = None
    packets: int | None = None
    bytes: int | None = None


@dataclasses.dataclass(slots=True, kw_only=True)
class Progress:
    """How it stands; `lost` is None where an engine has not said yet."""

    packets: int = 0
    bytes: int = 0
    received: int = 0
    dropped: int = 0
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)
    ended: list[NetdiagError] = field(default_factory=list)


class Interfaces:
    """Gives each link of each place its number in the file."""

    def __init__(self, *, snaplen: int, filter_text: str) -> None:
        self.listed: list[Interface] = []
        self.of_place: dict[str, list[int]] = {}
        self._snaplen = snaplen
        self._filter = filter_text
        self._known: dict[tuple[str, str, int], int] = {}

    def number(self, place: str, link: str, linktype: int) -> int:
        """The number; a new one the first time."""
        key = (place, link, linktype)
        if key not in self._known:
            self._known[key] = len(self.listed)
            self.of_place.setdefault(place, []).append(len(self.listed))
            name = f"{place}:{link}"
            self.listed.append(Interface(name=name, linktype=linktype, snaplen=self._snaplen, filter=self._filter))
        return self._known[key]


class Session:
    """Runs until it is stopped, a limit is reached, or no source is left."""

    def __init__(self, sources: Sequence[Source], output: Output, interfaces: Interfaces, limits: Limits) -> None:
        self.progress = Progress()
        self.stopped = False
        self._sources = list(sources)
        self._alive = list(sources)
        self._output = output
        self._interfaces = interfaces
        self._limits = limits
        self._waiting: list[bytes] = []
        self._began = time.time_ns()
        self._start = time.monotonic()

    def stop(self) -> None:
        """End it soon; may be called by a signal's handler."""
        self.stopped = True

    @property
    def is_deserted(self) -> bool:
        """Whether every source has come to its end by itself."""
        return not self._alive

    def run(self, tick: Callable[[Progress], None]) -> Progress:
        """Capture; `tick` is called now and then. The output is finished whatever happens."""
        poll = select.poll()
        for source in self._sources:
            if (descriptor := source.fileno()) is not None:
                poll.register(descriptor, select.POLLIN)
        try:
            self._take(poll, tick)
            self._drain(tick)
        except ReaderGone:
            pass
        finally:
            self._count()
            self._output.finish(self._counters())
            tick(self.progress)
        return self.progress

    def _take(self, poll: select.poll, tick: Callable[[Progress], None]) -> None:
        ticked, moved = 0.0, False
        while not self._is_over():
            # A source without a descriptor is asked again at once while it has something.
            poll.poll(0 if moved else _POLL_MS)
            moved = self._move()
            if time.monotonic() - ticked >= _TICK:
                ticked = time.monotonic()
                self._look_after_sources()
                tick(self.progress)

    def _is_over(self) -> bool:
        limits = self._limits
        if self.stopped or not self._alive or self._is_full():
            return True
        return limits.seconds is not None and time.monotonic() - self._start >= limits.seconds

    def _is_full(self) -> bool:
        packets, size = self._limits.packets, self._limits.bytes
        return (packets is not None and self._output.written >= packets) or (
            size is not None and self._output.bytes >= size
        )

    def _drain(self, tick: Callable[[Progress], None]) -> None:
        """What the engines still hold belongs to the capture."""
        for source in self._sources:
            source.stop()
        end = time.monotonic() + _PATIENCE
        while not self._is_full():
            done = all(source.finished() for source in self._sources)
            moved = self._move(hold=False) if len(self._sources) == 1 else self._move()
            if done and not moved:
                break
            if moved:
                end = time.monotonic() + _PATIENCE
            elif time.monotonic() > end:
                raise NetdiagError("a capture engine does not stop")
            else:
                time.sleep(0.02)
            tick(self._counted())
        self._write(self._waiting)
        self._waiting = []

    def _move(self, *, hold: bool = True) -> bool:
        """Packets from the sources to the output; whether there were any."""
        fresh = [source.read() for source in self._sources]
        if len(self._sources) == 1:
            self._write(fresh[0])
            return bool(fresh[0])
        if any(fresh):
            self._waiting = sorted(chain(self._waiting, *fresh), key=_time_of)
        if self._waiting and hold:
            limit = min(source.settled() for source in self._sources)
            ripe = _ripe(self._waiting, (limit >> 32, limit & 0xFFFFFFFF))
            self._write(self._waiting[:ripe])
            self._waiting = self._waiting[ripe:]
        return any(fresh)

    def _write(self, blocks: list[bytes]) -> None:
        if self._limits.packets is not None:
            blocks = blocks[: self._limits.packets - self._output.written]
        self._output.write(blocks)

    def _look_after_sources(self) -> None:
        self._count()
        for source in list(self._alive):
            self.progress.notes += source.notes()
            failure = source.failure()
            if failure is not None:
                self.progress.ended.append(failure)
                self._alive.remove(source)

    def _counted(self) -> Progress:
        self._count()
        return self.progress

    def _count(self) -> None:
        for source in self._sources:
            source.count()
        progress = self.progress
        progress.packets, progress.bytes = self._output.written, self._output.bytes
        progress.received = sum(source.received for source in self._sources)
        progress.dropped = sum(source.dropped for source in self._sources)
        progress.seconds = time.monotonic() - self._start

    def _counters(self) -> dict[int, Counters]:
        """Of a place with several links the losses stand with the first: the engine counts them together."""
        found: dict[int, Counters] = {}
        for source in self._sources:
            numbers = self._interfaces.of_place.get(source.place.label, [])
            for number in numbers:
                first = number == numbers[0]
                comment = f"lost packets of all links of {source.place.label}" if first and len(numbers) > 1 else ""
                found[number] = Counters(
                    written=self._output.per_interface(number),
                    dropped=source.dropped if first else None,
                    start=self._began,
                    end=time.time_ns(),
                    comment=comment,
                )
        return found


def _time_of(block: bytes) -> tuple[int, ...]:
    return PACKET_TIME.unpack_from(block, PACKET_TIME_AT)


def _ripe(blocks: Sequence[bytes], limit: tuple[int, int]) -> int:
    """How many are older than the limit; they are in order."""
    low, high = 0, len(blocks)
    while low < high:
        middle = (low + high) // 2
        if _time_of(blocks[middle]) < limit:
            low = middle + 1
        else:
            high = middle
    return low
