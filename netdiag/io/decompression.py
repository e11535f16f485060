"""gzip and zstd streams of any length, in pieces of bounded size, told by their first bytes and never by a name."""

import zlib
from collections.abc import Iterator
from typing import Protocol

from netdiag.errors import InputError, MissingExtra

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_PIECE = 1024 * 1024
# Decoders may have to look back this far; the tool zstd refuses more, too, unless it is told otherwise.
_LARGEST_WINDOW = 128 * 1024 * 1024
# No capture shrinks like this, a bomb does; the first so many bytes may be anything.
_MOST_TIMES, _FREE = 2000, 1024 * 1024 * 1024
_SKIPPABLE = range(0x184D2A50, 0x184D2A60)
_LARGEST_BLOCK = 128 * 1024


class Stream(Protocol):
    """What is read from."""

    def read(self, size: int, /) -> bytes: ...


class DamagedStream(Exception):
    """A compressed stream ends early or contradicts itself; what came out of it before is good."""

    def __init__(self, form: str, *, ends: bool) -> None:
        super().__init__(f"the {form} stream {'ends early' if ends else 'is damaged'}")
        self.ends = ends


def is_compressed(begun: bytes) -> bool:
    """Whether a file that begins like this is one for `decompressed`."""
    return begun.startswith((GZIP, ZSTD))


def decompressed(stream: Stream) -> Iterator[bytes]:
    """The content of a compressed stream; DamagedStream where it breaks, InputError where it is a bomb."""
    source = _Counted(stream)
    magic = source.take(4)
    source.give_back(magic)
    made = 0
    for piece in _gzip(source) if magic.startswith(GZIP) else _zstd(source):
        made += len(piece)
        if made > _FREE and made > _MOST_TIMES * source.taken:
            raise InputError(f"holds more than {_MOST_TIMES} times its size, which no capture does")
        yield piece


class _Counted:
    """Gives exactly as many bytes as asked for, fewer only at the end."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._held = b""
        self._position = 0
        self.taken = 0

    def take(self, size: int) -> bytes:
        while len(self._held) - self._position < size:
            more = self._stream.read(_PIECE)
            if not more:
                break
            self._held = self._held[self._position :] + more
            self._position = 0
        data = self._held[self._position : self._position + size]
        self._position += len(data)
        self.taken += len(data)
        return data

    def take_some(self) -> bytes:
        """Whatever is there."""
        held = self._held[self._position :] or self._stream.read(_PIECE)
        self._held, self._position = b"", 0
        self.taken += len(held)
        return held

    def give_back(self, data: bytes) -> None:
        self._held = data + self._held[self._position :]
        self._position = 0
        self.taken -= len(data)


def _gzip(source: _Counted) -> Iterator[bytes]:
    """One member after the other; zeros behind the last one are padding, as on tapes."""
    while data := source.take_some():
        if not data.startswith(GZIP[: len(data)]):
            if data.strip(b"\0"):
                raise DamagedStream("gzip", ends=False)
            continue
        member = zlib.decompressobj(wbits=31)
        while not member.eof:
            try:
                piece = member.decompress(data, _PIECE)
            except zlib.error as error:
                raise DamagedStream("gzip", ends=False) from error
            if piece:
                yield piece
            data = member.unconsumed_tail
            if not data and not member.eof:
                data = source.take_some()
                if not data:
                    raise DamagedStream("gzip", ends=True)
        source.give_back(member.unused_data)


def _zstd(source: _Counted) -> Iterator[bytes]:
    """Block by block, none of which can hold more than 128 KiB (RFC 8878)."""
    try:
        import zstandard
    except ImportError as error:
        raise MissingExtra(
            "is compressed with zstd, and the package zstandard is not installed",
            extra="capture",
            instead="unpack the file with zstd -d",
        ) from error
    decompressor = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW)
    while magic := source.take(4):
        if int.from_bytes(magic, "little") in _SKIPPABLE:
            left = int.from_bytes(source.take(4), "little")
            while left > 0 and (skipped := source.take(min(left, _PIECE))):
                left -= len(skipped)
            continue
        if magic != ZSTD:
            raise DamagedStream("zstd", ends=False)
        frame = decompressor.decompressobj()
        try:
            header, has_checksum = _frame_header(source)
            yield from _non_empty(frame.decompress(magic + header))
            is_last = False
            while not is_last:
                head = _exactly(source, 3)
                word = int.from_bytes(head, "little")
                is_last, kind, size = bool(word & 1), word >> 1 & 3, word >> 3
                if size > _LARGEST_BLOCK:
                    raise DamagedStream("zstd", ends=False)
                # A block of kind 1 is one byte, so many times.
                yield from _non_empty(frame.decompress(head + _exactly(source, 1 if kind == 1 else size)))
            if has_checksum:
                yield from _non_empty(frame.decompress(_exactly(source, 4)))
        except zstandard.ZstdError as error:
            if "memory" in str(error):
                raise InputError("needs more than 128 MiB to decompress", hint="unpack it with zstd -d") from error
            raise DamagedStream("zstd", ends=False) from error


def _frame_header(source: _Counted) -> tuple[bytes, bool]:
    first = _exactly(source, 1)
    flags = first[0]
    is_single = bool(flags & 0x20)
    content = (1 if is_single else 0, 2, 4, 8)[flags >> 6]
    rest = (0 if is_single else 1) + (0, 1, 2, 4)[flags & 3] + content
    return first + _exactly(source, rest), bool(flags & 4)


def _exactly(source: _Counted, size: int) -> bytes:
    data = source.take(size)
    if len(data) < size:
        raise DamagedStream("zstd", ends=True)
    return data


def _non_empty(piece: bytes) -> Iterator[bytes]:
    if piece:
        yield piece
