"""The tar archives in which an engine gives files of containers, as a stream that ends in time."""

import io
import tarfile
from collections.abc import Iterator


def first_file(chunks: Iterator[bytes], *, limit: int) -> bytes | None:
    """The archive's first regular file; None where it has more bytes than `limit`."""
    count = Limit(2 * limit)
    try:
        with tarfile.open(fileobj=Stream(chunks, count), mode="r|") as archive:
            for member in archive:
                is_small = member.isreg() and not member.issparse() and member.size <= limit
                content = archive.extractfile(member) if is_small else None
                return None if content is None else content.read()
    except (Enough, tarfile.TarError):
        return None
    return None


class Limit:
    """How many bytes may come."""

    def __init__(self, left: int) -> None:
        self._left = left

    def count(self, size: int) -> None:
        """So many bytes more have come."""
        self._left -= size
        if self._left < 0:
            raise Enough


class Enough(Exception):
    """The copy is as large as it may be."""


class Stream(io.RawIOBase):
    """The chunks of an archive as a file, for as long as a copy may grow."""

    def __init__(self, chunks: Iterator[bytes], limit: Limit) -> None:
        self._chunks = chunks
        self._limit = limit
        self._chunk = b""
        self._at = 0

    def read(self, size: int = -1, /) -> bytes:
        """At most so many bytes; fewer at the end."""
        parts = []
        while size > 0:
            if self._at >= len(self._chunk):
                self._chunk, self._at = next(self._chunks, b""), 0
                self._limit.count(len(self._chunk))
                if not self._chunk:
                    break
            part = self._chunk[self._at : self._at + size]
            self._at += len(part)
            size -= len(part)
            parts.append(part)
        return b"".join(parts)
