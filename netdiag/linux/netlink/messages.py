"""Requests to the kernel over netlink (netlink(7), linux/netlink.h), and the attributes of its answers.

Attributes are triples of number, length and value. They are read for every message of every dump, so a message costs
one pass and one dictionary. Every length is checked against what is left before it is used.
"""

import ipaddress
import struct
import sys
from collections.abc import Callable, Iterator, Mapping
from enum import IntEnum
from functools import lru_cache

from netdiag.linux.rtnetlink import Detail

REQUEST, DUMP = 0x1, 0x300
_HEADER = struct.Struct("=IHHII")


class MessageType(IntEnum):
    """The types of the requests and answers (linux/netlink.h, rtnetlink.h, net_namespace.h, sock_diag.h, netconf.h)."""

    NEW_LINK = 16
    GET_LINK = 18
    SOCK_DIAG_BY_FAMILY = 20
    GET_ADDRESS = 22
    NEW_ROUTE = 24
    GET_ROUTE = 26
    GET_NEIGHBOUR = 30
    GET_RULE = 34
    GET_NETCONF = 82
    NEW_NSID = 88
    GET_NSID = 90


def request(kind: int, body: bytes, attributes: bytes = b"", *, flags: int = DUMP) -> bytes:
    """A message to the kernel; `body` is the fixed part that belongs to `kind`, already padded.

    Who sends it sets its sequence number.
    """
    length = _HEADER.size + len(body) + len(attributes)
    return _HEADER.pack(length, kind, REQUEST | flags, 0, 0) + body + attributes


ATTRIBUTE_HEADER = struct.Struct("=HH")
# NLA_TYPE_MASK: the type without the flags for "nested" and "network byte order".
ATTRIBUTE_TYPE = 0x3FFF
_unpack = ATTRIBUTE_HEADER.unpack_from
_LARGEST = 0xFFFF


class Malformed(ValueError):
    """These bytes are not what a kernel sends: a length leads out of them, or a value has an impossible size."""


def attributes(data: bytes, start: int = 0) -> dict[int, bytes]:
    """The values by number, from `start` on; of a number that comes twice, the last, as the kernel takes it."""
    return dict(each_attribute(data, start))


def each_attribute(data: bytes, start: int = 0) -> Iterator[tuple[int, bytes]]:
    """Number and value in the order they come, for lists whose numbers repeat."""
    end = len(data)
    while start < end:
        if end - start < 4:
            raise Malformed(f"{end - start} bytes after the last attribute")
        length, number = _unpack(data, start)
        stop = start + length
        if length < 4 or stop > end:
            raise Malformed(f"attribute {number & ATTRIBUTE_TYPE} says {length} bytes of {end - start}")
        yield number & ATTRIBUTE_TYPE, data[start + 4 : stop]
        start = (stop + 3) & ~3


def attribute(number: int, value: bytes) -> bytes:
    """One attribute with its padding."""
    length = 4 + len(value)
    if length > _LARGEST:
        raise Malformed(f"attribute {number} would need {length} bytes")
    return ATTRIBUTE_HEADER.pack(length, number) + value + b"\0" * (-length % 4)


Reader = Callable[[bytes], Detail]
# Attribute number -> name and reader. Without a name the reader gives several; with an empty name it is known, but
# tells nothing of interest.
Fields = Mapping[int, tuple[str | None, Reader]]

_ORDER = sys.byteorder
_SIZES = frozenset((1, 2, 4, 8))
_SHOWN = 64
_HELD = 8192


def number(data: bytes) -> int:
    """An unsigned number of 1, 2, 4 or 8 bytes in the machine's byte order."""
    if len(data) not in _SIZES:
        raise Malformed(f"a number of {len(data)} bytes")
    return int.from_bytes(data, _ORDER)


def signed(data: bytes) -> int:
    """A signed number in the machine's byte order."""
    if len(data) not in _SIZES:
        raise Malformed(f"a number of {len(data)} bytes")
    return int.from_bytes(data, _ORDER, signed=True)


def network_number(data: bytes) -> int:
    """An unsigned number in network byte order."""
    if len(data) not in _SIZES:
        raise Malformed(f"a number of {len(data)} bytes")
    return int.from_bytes(data, "big")


def hexadecimal(data: bytes) -> str:
    """A number as `ip` prints masks and marks: "0x4000", but "0"."""
    value = number(data)
    return f"{value:#x}" if value else "0"


def truth(data: bytes) -> bool:
    """Whether a number is not zero."""
    return number(data) != 0


def present(data: bytes) -> bool:
    """A mark that says all by being there."""
    return True


def nothing(data: bytes) -> None:
    """What `ip` prints as null."""


def seconds(data: bytes) -> float:
    """A timer in hundredths of a second (clock_t)."""
    return number(data) / 100


def text(data: bytes) -> str:
    """A word up to its NUL; bytes that are not UTF-8 as "\\xff"."""
    return data.split(b"\0", 1)[0].decode("utf-8", "backslashreplace")


def hardware_address(data: bytes) -> str:
    """ "02:42:ac:11:00:02", of any length."""
    return data.hex(":")


def word(names: Mapping[int, str]) -> Reader:
    """A reader of numbers that have names; one without a name is told as such, "7"."""

    def read(data: bytes) -> str:
        value = number(data)
        return names.get(value) or str(value)

    return read


def ip_address(data: bytes) -> str:
    """An IPv4 or IPv6 address, by its length."""
    if len(data) == 4:
        return f"{data[0]}.{data[1]}.{data[2]}.{data[3]}"
    if len(data) == 16:
        return _ipv6(data)
    raise Malformed(f"an IP address of {len(data)} bytes")


@lru_cache(maxsize=_HELD)
def _ipv6(data: bytes) -> str:
    if data.startswith(b"\0" * 10 + b"\xff\xff"):
        return f"::ffff:{ip_address(data[12:])}"
    return str(ipaddress.IPv6Address(data))


def read_fields(
    found: Mapping[int, bytes], fields: Fields, *, where: str, undecoded: dict[str, str]
) -> dict[str, Detail]:
    """The details that `fields` knows of; the rest goes to `undecoded`, as hexadecimal digits under `where`/number."""
    details: dict[str, Detail] = {}
    for key, data in found.items():
        entry = fields.get(key)
        if entry is None:
            undecoded[f"{where}/{key}" if where else str(key)] = data[:_SHOWN].hex()
            continue
        name, read = entry
        if name:
            details[name] = read(data)
        elif name is None:
            several = read(data)
            if isinstance(several, dict):
                details.update(several)
    return details
