"""Capture files in the order of their packets: named, in folders, by patterns, compressed, or from standard input.

Files that follow one another (rotated ones) are open one after the other, files that overlap at the same time.
"""

import errno
import glob
import heapq
import os
import stat
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from io import RawIOBase
from typing import BinaryIO, Protocol, TypeVar, cast

from netdiag.errors import InputError, NetdiagError
from netdiag.io.decompression import DamagedStream, decompressed, is_compressed
from netdiag.traffic.engine.packet import Packet, Undecoded
from netdiag.traffic.engine.records import MAGICS, CaptureReader

STDIN = "-"
_PIECE = 1024 * 1024
_LEAST_PIECE = 64 * 1024
# What the pieces of all files may take together.
_MOST_PIECES = 128
# So far a file is looked into for its first packet.
_GLANCE = 4 * 1024 * 1024
NEVER = 2**63

Made = TypeVar("Made", covariant=True)


class Eater(Protocol[Made]):
    """What eats a file in pieces that are put where it says, or lie elsewhere, and makes something of each."""

    def place(self, size: int) -> memoryview: ...

    def filled(self, count: int) -> Made: ...

    def take(self, piece: bytes) -> Made: ...

    def end(self) -> Made: ...


class Ending(Protocol):
    """An engine, as far as files come to their end."""

    def dropped(self, file: int, packets: int) -> None: ...

    def lose(self, file: int, lost: Undecoded) -> None: ...

    def finish(self) -> None: ...


def read_captures(
    paths: Sequence[str], *, since_ns: int | None = None, until_ns: int | None = None
) -> Iterator[Packet]:
    """The packets of all captures in their order, from `since_ns` on and before `until_ns`; see Captures."""
    return Captures(paths, since_ns=since_ns, until_ns=until_ns).packets()


class Captures:
    """Captures that are read together.

    InputError where a path leads to none. `files`: what `Packet.file` is the index of, with what became of each.
    """

    def __init__(self, paths: Sequence[str], *, since_ns: int | None = None, until_ns: int | None = None) -> None:
        found = _expanded(paths)
        piece = max(_LEAST_PIECE, min(_PIECE, _PIECE * _MOST_PIECES // max(1, len(found))))
        self.files = tuple(
            CaptureFile(path, index, piece=piece, since=since_ns, until=until_ns) for index, path in enumerate(found)
        )

    def packets(self) -> Iterator[Packet]:
        """All packets by time; those of one file stay in its order."""
        waiting = deque(sorted(self.files, key=lambda file: (file.first_time, file.index)))
        heap: list[tuple[int, int, Packet, Iterator[Packet]]] = []
        while heap or waiting:
            while waiting and (not heap or waiting[0].first_time <= heap[0][0]):
                opened = waiting.popleft()
                packets = opened.packets()
                if (first := next(packets, None)) is not None:
                    heapq.heappush(heap, (first.time, opened.index, first, packets))
            if not heap:
                continue
            _, index, packet, packets = heapq.heappop(heap)
            limit = min(heap[0][0] if heap else NEVER, waiting[0].first_time if waiting else NEVER)
            yield packet
            for packet in packets:
                if packet.time > limit:
                    heapq.heappush(heap, (packet.time, index, packet, packets))
                    break
                yield packet

    def finish(self, engine: Ending) -> None:
        """Tell an engine that took all packets what the files lack, and that there is no more."""
        for file in self.files:
            engine.dropped(file.index, file.account.dropped)
            for lost in file.losses:
                engine.lose(file.index, lost)
        engine.finish()


class CaptureFile:
    """One file: its name, how far it was read, and what its bytes were.

    `size`: as it lies there, None where nobody knows; `read_bytes`: how much of that was read. `account`: of the
    capture in it, decompressed.
    """

    def __init__(self, path: str, index: int, *, piece: int, since: int | None, until: int | None) -> None:
        self.name = path
        self.index = index
        self.size: int | None = None
        self.read_bytes = 0
        self._piece = piece
        self._reader = CaptureReader(file=index, since=since, until=until)
        self.account = self._reader.account
        # Whether it can be read twice; if not, what was read of it to see what is in it, and how that ended.
        self._is_lasting = False
        self._kept: list[bytes] = []
        self._following: Iterator[bytes] | None = None
        self._broken: DamagedStream | None = None
        self.first_time = self._look_into()

    @property
    def losses(self) -> list[Undecoded]:
        """What could not be read so far."""
        return self._reader.losses

    def packets(self) -> Iterator[Packet]:
        """The packets of this file alone; once."""
        with self._told():
            for piece in self._all_pieces():
                yield from self._reader.feed(piece)
        yield from self._reader.finish()

    def eaten_by(self, eater: Eater[Made], piece: int) -> Generator[Made, None, None]:
        """What something else than the reader makes of this file, in pieces of at most so many bytes; once."""
        with self._told():
            if self._following is None:
                yield from self._put_into(eater, piece)
            else:
                for each in self._all_pieces():
                    yield eater.take(each)
        with self._told():
            made = eater.end()
        yield made

    def _put_into(self, eater: Eater[Made], piece: int) -> Iterator[Made]:
        """Without a copy on the way, unless the file is compressed."""
        with self._content() as content:
            if is_compressed(content.begin(4)):
                for each in decompressed(content):
                    yield eater.take(each)
                return
            while count := content.read_into(eater.place(piece)):
                yield eater.filled(count)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say of which file an error is; count what a damaged stream keeps for itself."""
        with told_of(self.name):
            try:
                yield
            except DamagedStream as error:
                left = max(0, (self.size or 0) - self.read_bytes)
                self.account.losses.append(Undecoded("truncated" if error.ends else "damage", str(error), left))
                self.account.lost_bytes += left

    def _look_into(self) -> int:
        """The time of the first packet; InputError where the file is no capture."""
        reader = CaptureReader()
        pieces = self._pieces()
        try:
            for piece in pieces:
                self._kept.append(piece)
                if packets := reader.feed(piece):
                    return packets[0].time
                if sum(map(len, self._kept)) > _GLANCE:
                    return 0
            packets = reader.finish()
            return packets[0].time if packets else 0
        except DamagedStream as error:
            if not reader.account.header_bytes:
                raise InputError(str(error), where=self.name) from error
            self._broken = error
            return 0
        except NetdiagError as error:
            error.where = self.name
            raise
        except (OSError, ValueError) as error:
            raise InputError(_reason(error), where=self.name, hint=_hint(error)) from error
        finally:
            if not self._is_lasting:
                self._following = pieces
            else:
                # Read again when its turn comes: not all files can be open at the same time.
                self._kept.clear()
                self.read_bytes = 0
                self._broken = None
                pieces.close()

    def _all_pieces(self) -> Iterator[bytes]:
        if self._following is None:
            yield from self._pieces()
            return
        while self._kept:
            yield self._kept.pop(0)
        if self._broken:
            raise self._broken
        yield from self._following

    def _pieces(self) -> Generator[bytes, None, None]:
        """The bytes of the capture in the file, decompressed."""
        with self._content() as content:
            if is_compressed(content.begin(4)):
                yield from decompressed(content)
                return
            while piece := content.read(self._piece):
                yield piece

    @contextmanager
    def _content(self) -> Iterator["_Begun"]:
        """The bytes in the file, as they are."""
        with _opened(self.name) as stream:
            status = os.fstat(stream.fileno())
            if stat.S_ISDIR(status.st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            if stat.S_ISREG(status.st_mode):
                self.size = status.st_size
                self._is_lasting = self.name != STDIN
            yield _Begun(stream, self)


@contextmanager
def told_of(path: str) -> Iterator[None]:
    """Say which file an error is about."""
    try:
        yield
    except NetdiagError as error:
        error.where = path
        raise
    except OSError as error:
        raise InputError(_reason(error), where=path, hint=_hint(error)) from error


class _Begun:
    """A file whose first bytes were looked at; counts what is read for `owner`."""

    def __init__(self, stream: BinaryIO, owner: CaptureFile | None) -> None:
        self._stream = stream
        self._owner = owner
        self._begin = b""

    def begin(self, size: int) -> bytes:
        while len(self._begin) < size and (more := self._stream.read(size - len(self._begin))):
            self._begin += more
        return self._begin

    def read_into(self, place: memoryview) -> int:
        """As many bytes as there are, at most what the place has room for, which is no less than what `begin` gave."""
        begun, self._begin = self._begin, b""
        place[: len(begun)] = begun
        count = len(begun) or cast(RawIOBase, self._stream).readinto(place) or 0
        if self._owner is not None:
            self._owner.read_bytes += count
        return count

    def read(self, size: int, /) -> bytes:
        data = self._begin or self._stream.read(size) or b""
        self._begin = b""
        if self._owner is not None:
            self._owner.read_bytes += len(data)
        return data


def _opened(path: str) -> BinaryIO:
    # Unbuffered: a pipe gives what is there, so that a capture can be read while it is made.
    if path == STDIN:
        return cast(BinaryIO, os.fdopen(os.dup(0), "rb", buffering=0))
    return cast(BinaryIO, open(path, "rb", buffering=0))


def _expanded(paths: Sequence[str]) -> list[str]:
    """The files that paths, folders and patterns lead to, each once."""
    found: dict[tuple[int, int] | str, str] = {}
    for path in paths:
        for name in _named_by(path):
            found.setdefault(_identity(name), name)
    if not found:
        raise InputError("there is no capture to read")
    return list(found.values())


def _named_by(path: str) -> list[str]:
    if path == STDIN:
        return [path]
    try:
        if os.path.isdir(path):
            return _in_folder(path)
        if os.path.lexists(path) or not glob.has_magic(path):
            return [path]
        matches = sorted(glob.glob(path, recursive=True))
    except (OSError, ValueError) as error:
        raise InputError(_reason(error), where=path) from error
    files = [match for match in matches if not os.path.isdir(match)]
    if not files:
        raise InputError("no file matches this pattern", where=path, hint="check the pattern")
    return files


def _in_folder(folder: str) -> list[str]:
    """The captures in a folder, told by what they begin with; other files may lie beside them."""
    names = sorted(entry.path for entry in os.scandir(folder) if entry.is_file() and not entry.name.startswith("."))
    captures = [name for name in names if _is_capture(name)]
    if not captures:
        raise InputError(
            "no capture lies in this folder", where=folder, hint="name the files, or the folder they are in"
        )
    return captures


def _is_capture(path: str) -> bool:
    """Whether this file must be read; one that cannot be opened must, to say why."""
    try:
        with _opened(path) as stream:
            content = _Begun(stream, None)
            begun = content.begin(4)
            if is_compressed(begun):
                begun = next(decompressed(content), b"")
            return begun[:4] in MAGICS
    except (OSError, NetdiagError):
        return True
    except DamagedStream:
        return False


def _identity(path: str) -> tuple[int, int] | str:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return path
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else path


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[0].lower() + error.strerror[1:]
    return str(error)


def _hint(error: OSError | ValueError) -> str | None:
    return "check the path" if isinstance(error, FileNotFoundError) else None
