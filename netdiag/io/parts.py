"""Capture files in parts that are read on their own, in any order and place, and make the whole again."""

import os
from collections.abc import Iterator, Sequence
from io import FileIO
from typing import Generic, Protocol

from netdiag.io.captures import Eater, Made, told_of
from netdiag.traffic.engine.account import Account
from netdiag.traffic.engine.records import CaptureReader
from netdiag.traffic.engine.splitting import Part, parts


class Standing(Eater[Made], Protocol[Made]):
    """A `Front`, or what eats bytes as it does."""

    account: Account

    @property
    def standing(self) -> object: ...


def file_parts(path: str, size: int) -> tuple[Part, ...]:
    """The parts of a regular file, of about `size` bytes; one of a compressed file."""
    with told_of(path), open(path, "rb", buffering=0) as stream:
        return parts(_FileContent(stream), size)


class PartReader(Generic[Made]):
    """Reads part `index` of those of a file.

    `reached`: where it ended, once all was read. This is the end of the part, or of a later one where the part did not
    end between two packets, or where the next one would not have known enough: then those before that end are void.
    """

    def __init__(self, path: str, found: Sequence[Part], index: int) -> None:
        self.begin = found[index].begin
        self.reached = self.begin
        self._path = path
        self._parts = found[index:]

    def eaten_by(self, eater: Standing[Made], piece: int) -> Iterator[Made]:
        """What is made of the part; numbers and sums begin with it, see `whole` for those of the file."""
        first = self._parts[0]
        with told_of(self._path), open(self._path, "rb", buffering=0) as stream:
            if first.context:
                eater.take(first.context)
                eater.account.header_bytes = 0
            stream.seek(first.begin)
            for part, following in zip(self._parts, [*self._parts[1:], None], strict=True):
                left = part.end - part.begin
                while left and (count := stream.readinto(eater.place(min(piece, left)))):
                    yield eater.filled(count)
                    left -= count
                self.reached = part.end
                if following is not None and eater.standing == _known(following):
                    break
            yield eater.end()


def whole(results: Sequence[tuple[PartReader[Made], Account]]) -> tuple[list[int], Account]:
    """Of parts that were read: which ones make the whole, and the account of it."""
    account, good, position = Account(), list[int](), 0
    for index, (reader, found) in enumerate(results):
        if reader.begin < position:
            continue
        if reader.begin > position:
            raise ValueError("a part is missing")
        good.append(index)
        account.add(found)
        position = reader.reached
    return good, account


def _known(part: Part) -> object:
    reader = CaptureReader()
    reader.feed(part.context)
    return reader.standing


class _FileContent:
    def __init__(self, stream: FileIO) -> None:
        self._file = stream.fileno()
        self.size = os.fstat(self._file).st_size

    def read(self, at: int, count: int) -> bytes:
        data = os.pread(self._file, count, at)
        while len(data) < count and (more := os.pread(self._file, count - len(data), at + len(data))):
            data += more
        return data
