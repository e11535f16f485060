"""One capture file, read as far as it is there: reading stops behind any packet and goes on there later.

What is kept meanwhile is how far it was read, the reader of records, and the packets of the last piece that were not
given yet. A file is the same as long as its inode and first bytes are; else it was removed or written anew.
"""

import os
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

from netdiag.errors import NetdiagError
from netdiag.io.decompression import DamagedStream, decompressed, is_compressed
from netdiag.traffic.engine.packet import Packet, Undecoded
from netdiag.traffic.engine.records import CaptureReader

PIECE = 256 * 1024
BEGIN = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What a file is known again by."""

    inode: int
    begin: str

    def holds(self, inode: int, begin: bytes) -> bool:
        """Whether a file with these is it; it may have grown since."""
        return inode == self.inode and begin.hex().startswith(self.begin)


class Source:
    """`number` is what packets name as their file; `late`: it begins so many nanoseconds before what was taken."""

    def __init__(self, *, number: int, name: str, path: str, first_time: int, late: int, identity: Identity) -> None:
        self.number = number
        self.name = name
        self.path = path
        self.first_time = first_time
        self.late = late
        self.identity = identity
        self.quiet = self.gone = False
        self.failure: Undecoded | None = None
        self.reader = CaptureReader(file=number)
        self.read = 0
        self._limit = 0
        self._ended = False
        self._finished = False
        self._ready: deque[Packet] = deque()
        self._stream: BinaryIO | None = None
        self._pieces: Iterator[bytes] | None = None

    def between(self, since: int | None, until: int | None) -> "Source":
        """Give packets from `since` on and before `until` only, in nanoseconds; before anything is read."""
        self.reader = CaptureReader(file=self.number, since=since, until=until)
        return self

    def allow(self, size: int, *, ended: bool, quiet: bool = False) -> None:
        """Read the file up to so many bytes. `ended`: no more come. `quiet`: others need not wait for more."""
        self._limit, self._ended, self.quiet = max(size, self._limit), ended, quiet

    def move(self, path: str, identity: Identity) -> None:
        """The same capture lies elsewhere, or is compressed by now."""
        if (path, identity) != (self.path, self.identity):
            self.close()
            self.path, self.identity = path, identity

    def end(self) -> None:
        """Take what is there for all of it."""
        self._ended = True

    def head(self) -> Packet | None:
        """The next packet; None where there is none, or none yet, see `is_over`."""
        if not self._ready:
            self._fill()
        return self._ready[0] if self._ready else None

    def take(self) -> Packet:
        """The next packet, which is taken away."""
        return self._ready.popleft()

    @property
    def is_over(self) -> bool:
        """Whether no more packets come."""
        return self._finished and not self._ready

    def close(self) -> None:
        """Let go of the file."""
        if self._stream is not None:
            self._stream.close()
        self._stream = self._pieces = None

    def state(self) -> dict[str, Any]:
        """What `restored` goes on from."""
        return {
            "file": (self.number, self.name, self.path, self.first_time, self.late),
            "identity": (self.identity.inode, self.identity.begin),
            "reading": (self.read, self._limit, self._ended, self._finished, self.quiet, self.gone),
            "failure": self.failure,
            "reader": self.reader,
            "ready": tuple(self._ready),
        }

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> "Source":
        """A source that goes on where another one was."""
        number, name, path, first_time, late = state["file"]
        inode, begin = state["identity"]
        identity = Identity(inode=inode, begin=begin)
        made = cls(number=number, name=name, path=path, first_time=first_time, late=late, identity=identity)
        made.read, made._limit, made._ended, made._finished, made.quiet, made.gone = state["reading"]
        made.failure, made.reader, made._ready = state["failure"], state["reader"], deque(state["ready"])
        return made

    def _fill(self) -> None:
        """Read on until there is a packet, or nothing more to read."""
        while not self._ready and not self._finished:
            try:
                piece = self._piece()
                packets = self.reader.feed(piece) if piece else []
            except DamagedStream as error:
                self._fail(Undecoded("truncated" if error.ends else "damage", str(error), 0))
                continue
            except NetdiagError as error:
                self._fail(Undecoded("damage", error.message, 0))
                continue
            except (OSError, ValueError):
                self._fail(Undecoded("removed", "the file is gone", max(0, self._limit - self.read)))
                continue
            if piece:
                self._ready.extend(packets)
            elif self._ended:
                self._finish()
            else:
                return

    def _fail(self, why: Undecoded) -> None:
        self.failure = why
        self._finish()

    def _finish(self) -> None:
        self._finished = True
        try:
            self._ready.extend(self.reader.finish())
        except NetdiagError as error:
            self.failure = self.failure or Undecoded("damage", error.message, 0)

    def _piece(self) -> bytes:
        if self.read >= self._limit and self._pieces is None and not self._is_packed():
            return b""
        if self._stream is None:
            self._open()
        if self._pieces is not None:
            piece = next(self._pieces, b"")
        else:
            assert self._stream is not None
            piece = self._stream.read(min(PIECE, self._limit - self.read))
            if not piece and self.read < self._limit:
                raise OSError("shorter than it was")
        self.read += len(piece)
        return piece

    def _is_packed(self) -> bool:
        return is_compressed(bytes.fromhex(self.identity.begin[:8]))

    def _open(self) -> None:
        stream = open(self.path, "rb", buffering=0)  # noqa: SIM115
        self._stream = stream
        begin = stream.read(BEGIN)
        if not self.identity.holds(os.fstat(stream.fileno()).st_ino, begin):
            raise OSError("another file")
        if not self._is_packed():
            stream.seek(self.read)
            return
        stream.seek(0)
        # A compressed stream has no other way to a place within.
        self._pieces = _behind(decompressed(stream), self.read)


def _behind(pieces: Iterator[bytes], count: int) -> Iterator[bytes]:
    """What comes behind so many bytes."""
    for piece in pieces:
        if count < len(piece):
            yield piece[count:]
        count = max(0, count - len(piece))
