"""Attributes of netlink messages as nfnetlink nests them: foreign bytes, read within their bounds.

Numbers of nf_tables are in network order. Sources: linux/netlink.h, linux/netfilter/nfnetlink.h.
"""

import struct
from collections.abc import Iterator

from netdiag.errors import NetdiagError

_HEADER = struct.Struct("=HH")
_TYPE_MASK = 0x3FFF
_unpack = _HEADER.unpack_from


class Malformed(NetdiagError):
    """An answer of the kernel that cannot be read as what it should be."""


def attributes(data: memoryview) -> Iterator[tuple[int, memoryview]]:
    """The attributes one after the other, as (type, value)."""
    start, end = 0, len(data)
    while end - start >= _HEADER.size:
        length, kind = _HEADER.unpack_from(data, start)
        if length < _HEADER.size or start + length > end:
            raise _wrong(kind, length, end - start)
        yield kind & _TYPE_MASK, data[start + _HEADER.size : start + length]
        start += (length + 3) & ~3


def _wrong(kind: int, length: int, left: int) -> Malformed:
    return Malformed(f"attribute {kind & _TYPE_MASK} of {length} bytes where {left} are left")


def table(data: memoryview) -> dict[int, memoryview]:
    """The attributes by type; of several of one type the last."""
    found: dict[int, memoryview] = {}
    start, end = 0, len(data)
    # the same as of `attributes`, without its generator: most of the time of a reading is spent here
    while end - start >= 4:
        length, kind = _unpack(data, start)
        if length < 4 or start + length > end:
            raise _wrong(kind, length, end - start)
        found[kind & _TYPE_MASK] = data[start + 4 : start + length]
        start += (length + 3) & ~3
    return found


def number(value: memoryview | None, default: int = 0) -> int:
    """A number of 1 to 8 bytes in network order."""
    return default if value is None else int.from_bytes(value[:8], "big")


def text(value: memoryview | None) -> str:
    """A string, which may end in a NUL; bytes that are no UTF-8 are kept as surrogates."""
    if value is None:
        return ""
    return bytes(value).split(b"\0", 1)[0].decode("utf-8", errors="surrogateescape")


def user_data(value: memoryview | None) -> dict[int, bytes]:
    """What nft notes beside its objects: triples of type, length and value, one byte each for the first two."""
    found: dict[int, bytes] = {}
    data = bytes(value or b"")
    start = 0
    while start + 2 <= len(data):
        kind, length = data[start], data[start + 1]
        if start + 2 + length > len(data):
            break
        found.setdefault(kind, data[start + 2 : start + 2 + length])
        start += 2 + length
    return found


def user_text(value: bytes | None) -> str:
    """A comment among the notes."""
    return (value or b"").split(b"\0", 1)[0].decode("utf-8", errors="surrogateescape")
