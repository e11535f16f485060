"""What a capture reads from, whichever engine it is, and the one that reads the kernel's ring itself."""

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from netdiag.errors import NetdiagError
from netdiag.io.packets.filters import Filter
from netdiag.io.packets.places import Place
from netdiag.io.packets.ring import RETIRE_MS, Ring

# The number of an interface by place, link and link type.
Numbered = Callable[[str, str, int], int]


class Source(Protocol):
    """One place's packets."""

    place: Place

    @property
    def received(self) -> int:
        """Packets that the filter took and the engine has room for."""
        ...

    @property
    def dropped(self) -> int:
        """Packets that the filter took and that were lost."""
        ...

    def fileno(self) -> int | None:
        """What to wait for; None for a source that is asked again and again."""
        ...

    def read(self) -> list[bytes]:
        """Packet blocks that are there now, oldest first."""
        ...

    def settled(self) -> int:
        """No packet older than this time, in nanoseconds since 1970, comes any more."""
        ...

    def count(self) -> None:
        """Bring the counters up to date."""
        ...

    def notes(self) -> list[str]:
        """What happened to links since the last time."""
        ...

    def failure(self) -> NetdiagError | None:
        """Why no more can come, if that is so."""
        ...

    def stop(self) -> None:
        """Take nothing more."""
        ...

    def finished(self) -> bool:
        """After `stop`: whether everything has been read."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...


class RingSource:
    """The engine called scapy: a packet socket in the namespace, its ring read here."""

    def __init__(
        self, place: Place, chosen: Filter, numbered: Numbered, *, snaplen: int, links: Sequence[str], megabytes: int
    ) -> None:
        self.place = place
        self._numbered = numbered
        self._watched = dict(place.indexes_of(links) if links else place.links)
        self._only = bool(links)
        self._settled = 0
        self._stopped_at: float | None = None
        program = chosen.program(snaplen, tuple(self._watched) if links else ())
        self._ring = Ring(place.namespace, program, megabytes=megabytes)
        self._down = {index for index, name in self._watched.items() if not self._ring.is_up(name)}
        for index in self._watched.keys() - self._down:
            self._number(index)

    @property
    def received(self) -> int:
        """Packets that came through the filter and into the ring."""
        return self._ring.received

    @property
    def dropped(self) -> int:
        """Packets for which the ring had no room."""
        return self._ring.dropped

    def fileno(self) -> int | None:
        return self._ring.fileno()

    def read(self) -> list[bytes]:
        # The kernel hands over a block when it is full or old; two more for a machine that is busy.
        before = time.time_ns() - 3 * RETIRE_MS * 1_000_000
        found = self._ring.read(self._number)
        self._settled = before
        return found

    def settled(self) -> int:
        return self._settled

    def count(self) -> None:
        self._ring.count()

    def notes(self) -> list[str]:
        found: list[str] = []
        for index, name in list(self._watched.items()):
            up = self._ring.is_up(name) if self._ring.name_of(index) == name else None
            full = f"{self.place.label}:{name}"
            if up is None:
                found.append(f"{full} is gone")
                del self._watched[index]
            elif not up and index not in self._down:
                found.append(f"{full} went down")
                self._down.add(index)
            elif up and index in self._down:
                found.append(f"{full} is up")
                self._down.discard(index)
        return found

    def failure(self) -> NetdiagError | None:
        if self.place.is_gone:
            return NetdiagError("it is gone: no more packets come from there", where=self.place.what)
        if not self._watched and self._only:
            return NetdiagError("no interface is left: no more packets come from there", where=self.place.what)
        return None

    def stop(self) -> None:
        self._ring.stop()
        self._stopped_at = time.monotonic()

    def finished(self) -> bool:
        # The kernel hands over a block that is not full when it is old.
        return self._stopped_at is not None and time.monotonic() - self._stopped_at > 2.5 * RETIRE_MS / 1000

    def close(self) -> None:
        self._ring.close()

    def _number(self, ifindex: int) -> tuple[int, int]:
        name = self._ring.name_of(ifindex) or self.place.links.get(ifindex) or f"link-{ifindex}"
        if not self._only:
            self._watched.setdefault(ifindex, name)
        linktype = self._ring.linktype_of(name)
        return self._numbered(self.place.label, name, linktype), linktype
