"""Attributes: the number, length and value triples that netlink messages are made of (linux/netlink.h, struct nlattr).

Called for every message of every dump, so a message costs one pass and one dictionary. Every length is held against
what is left before it is used.
"""

import struct
from collections.abc import Iterator

_HEADER = struct.Struct("=HH")
_unpack = _HEADER.unpack_from
# NLA_TYPE_MASK: the number without the marks for "nested" and "network byte order".
_NUMBER = 0x3FFF
_LARGEST = 0xFFFF


class Malformed(ValueError):
    """These bytes are not what a kernel sends: a length leads out of them, or a value has an impossible size."""


def attributes(data: bytes, start: int = 0) -> dict[int, bytes]:
    """The values by number, from `start` on; of a number that comes twice, the last, as the kernel takes it."""
    found: dict[int, bytes] = {}
    end = len(data)
    while start < end:
        if end - start < 4:
            raise Malformed(f"{end - start} bytes after the last attribute")
        length, number = _unpack(data, start)
        stop = start + length
        if length < 4 or stop > end:
            raise Malformed(f"attribute {number & _NUMBER} says {length} bytes of {end - start}")
        found[number & _NUMBER] = data[start + 4 : stop]
        start = (stop + 3) & ~3
    return found


def each_attribute(data: bytes, start: int = 0) -> Iterator[tuple[int, bytes]]:
    """Number and value in the order they come, for lists whose numbers repeat."""
    end = len(data)
    while start < end:
        if end - start < 4:
            raise Malformed(f"{end - start} bytes after the last attribute")
        length, number = _unpack(data, start)
        stop = start + length
        if length < 4 or stop > end:
            raise Malformed(f"attribute {number & _NUMBER} says {length} bytes of {end - start}")
        yield number & _NUMBER, data[start + 4 : stop]
        start = (stop + 3) & ~3


def attribute(number: int, value: bytes) -> bytes:
    """One attribute with its padding."""
    length = 4 + len(value)
    if length > _LARGEST:
        raise Malformed(f"attribute {number} would need {length} bytes")
    return _HEADER.pack(length, number) + value + b"\0" * (-length % 4)
