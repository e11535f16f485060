"""Undo the compression of a record batch, never beyond a bound.

gzip by zlib; snappy (bare or in the blocks of xerial), lz4 and zstd by pyarrow, where it is installed.
"""

import zlib
from struct import Struct, error

GZIP, SNAPPY, LZ4, ZSTD = 1, 2, 3, 4
MOST = 16 << 20
"""So many bytes become of one batch at most; of a small one fewer."""
_FLOOR, _RATIO = 1 << 20, 1024
_XERIAL = b"\x82SNAPPY\x00"
_XERIAL_HEADER = 16
_INT32 = Struct(">i").unpack_from


class Unknown(Exception):
    """Nothing here undoes this compression."""


class Damaged(Exception):
    """These are no bytes of this compression."""


class Beyond(Exception):
    """More would become of it than the bound allows."""


def unpack(codec: int, data: bytes, most: int = MOST) -> bytes:
    """What was compressed: at most `most` bytes, and not much more than a thousand times `data`."""
    most = min(most, _FLOOR + _RATIO * len(data))
    if codec == GZIP:
        return _gzip(data, most)
    if codec not in (SNAPPY, LZ4, ZSTD):
        raise Unknown
    try:
        import pyarrow as pa  # an extra, and slow to import
    except ImportError as missing:
        raise Unknown from missing
    try:
        if codec == SNAPPY:
            return _snappy(data, most)
        with pa.CompressedInputStream(pa.BufferReader(data), "lz4" if codec == LZ4 else "zstd") as stream:
            return _bounded(stream.read(most + 1), most)
    except (OSError, ValueError, IndexError, error, pa.ArrowException) as wrong:
        raise Damaged from wrong


def _gzip(data: bytes, most: int) -> bytes:
    reader = zlib.decompressobj(wbits=31)
    try:
        out = reader.decompress(data, most + 1)
    except zlib.error as wrong:
        raise Damaged from wrong
    _bounded(out, most)
    if not reader.eof:
        raise Damaged
    return out


def _snappy(data: bytes, most: int) -> bytes:
    if not data.startswith(_XERIAL):
        return _snappy_block(data, most)
    at, parts, left = _XERIAL_HEADER, [], most
    while at < len(data):
        (size,) = _INT32(data, at)
        at += 4
        if size <= 0 or at + size > len(data):
            raise Damaged
        parts.append(_snappy_block(data[at : at + size], left))
        left -= len(parts[-1])
        at += size
    return b"".join(parts)


def _snappy_block(data: bytes, most: int) -> bytes:
    """A block begins with the size of what becomes of it."""
    import pyarrow as pa

    size = 0
    for place in range(5):
        size |= (data[place] & 0x7F) << 7 * place
        if data[place] < 0x80:
            break
    if size > most:
        raise Beyond
    done: bytes = pa.Codec("snappy").decompress(data, decompressed_size=size, asbytes=True)
    return done


def _bounded(out: bytes, most: int) -> bytes:
    if len(out) > most:
        raise Beyond
    return out
