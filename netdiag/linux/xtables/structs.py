"""Structs of extensions, which are read, and the options of iptables-save, which are written.

Numbers in structs are in the machine's byte order, except those of packet headers.
"""

import ipaddress
import struct
from collections.abc import Callable, Mapping
from typing import NamedTuple

from netdiag.errors import NetdiagError
from netdiag.linux.rtnetlink import Detail

Decoded = dict[str, Detail]
Fields = Mapping[str, Detail]
_SCALE = 10_000
_PERIODS = ((1, "sec"), (60, "min"), (3600, "hour"), (86400, "day"))
_BARE = frozenset("_-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


class BadBlob(NetdiagError):
    """An extension's data is shorter than its struct, or holds impossible values."""


class Blob:
    """The bytes of one extension."""

    __slots__ = ("data", "version")

    def __init__(self, data: bytes, version: int) -> None:
        """`version` is 4 or 6, the family of its addresses."""
        self.data = data
        self.version = version

    def u8(self, at: int) -> int:
        """A byte."""
        return self._unpacked("=B", at)

    def u16(self, at: int) -> int:
        """Two bytes in the machine's order."""
        return self._unpacked("=H", at)

    def u32(self, at: int) -> int:
        """Four bytes in the machine's order."""
        return self._unpacked("=I", at)

    def u64(self, at: int) -> int:
        """Eight bytes in the machine's order."""
        return self._unpacked("=Q", at)

    def port(self, at: int) -> int:
        """Two bytes in network order."""
        return self._unpacked("!H", at)

    def name(self, at: int, length: int) -> str:
        """A string that ends in NUL or fills its place."""
        part = self.data[at : at + length]
        return part.split(b"\0", 1)[0].decode("utf-8", errors="surrogateescape")

    def device(self, at: int, mask_at: int) -> str:
        """A device's name with its mask of 16 bytes: "eth+" where the mask ends before the name does, "" for none."""
        mask = self.data[mask_at : mask_at + 16]
        length = len(mask) - len(mask.lstrip(b"\xff"))
        part = self.data[at : at + length]
        name = part.split(b"\0", 1)[0].decode("utf-8", errors="surrogateescape")
        if not length:
            return ""
        return name if b"\0" in part else f"{name}+"

    def address(self, at: int) -> str:
        """An address of the rule's family, in a union of 16 bytes or alone."""
        length = 4 if self.version == 4 else 16
        part = self.data[at : at + length]
        if len(part) != length:
            raise BadBlob(f"{len(self.data)} bytes, too short for an address at {at}")
        return str(ipaddress.ip_address(part))

    def network(self, at: int, mask_at: int) -> str:
        """Address and mask as iptables-save prints them: a prefix length, or the mask where it has holes."""
        return network_text(self.address(at), self.address(mask_at))

    def _unpacked(self, layout: str, at: int) -> int:
        try:
            (value,) = struct.unpack_from(layout, self.data, at)
        except struct.error as error:
            raise BadBlob(f"{len(self.data)} bytes, too short for a number at {at}") from error
        return int(value)


def network_text(address: str, mask: str) -> str:
    """An address and its mask."""
    parsed = ipaddress.ip_address(mask)
    length = prefix_length(parsed.packed)
    return f"{address}/{mask if length is None else length}"


def prefix_length(mask: bytes) -> int | None:
    """The number of leading ones of a mask; None if ones follow a zero."""
    bits = "".join(f"{byte:08b}" for byte in mask)
    length = len(bits.rstrip("0"))
    return None if "0" in bits[:length] else length


class Extension(NamedTuple):
    """A match or target: its struct to fields (None for a revision that is not known), its fields to options."""

    decode: Callable[[Blob, int], Decoded | None]
    text: Callable[[Fields, str], list[str]]


def option(fields: Fields, name: str, word: str, value: str) -> str:
    """An option with its value, negated if the fields say so."""
    return f"{negation(fields, name)}{word} {value}".rstrip(" ")


def negation(fields: Fields, name: str) -> str:
    """The "! " before a negated option."""
    words = fields.get("not")
    return "! " if isinstance(words, list) and name in words else ""


def integer(fields: Fields, name: str) -> int:
    """A number among the fields."""
    value = fields.get(name)
    return value if isinstance(value, int) else 0


def listed(fields: Fields, name: str) -> list[Detail]:
    """A list among the fields."""
    value = fields.get(name)
    return value if isinstance(value, list) else []


def pair(value: Detail) -> tuple[str, str]:
    """The first and the last of a range."""
    return (str(value[0]), str(value[1])) if isinstance(value, list) and len(value) > 1 else (str(value), str(value))


def port_range(value: Detail, separator: str = ":") -> str:
    """One number, or two with a separator between them."""
    first, last = pair(value)
    return first if first == last else f"{first}{separator}{last}"


def quoted(text: str) -> str:
    """A string, in quotation marks unless it holds only letters, digits, "_" and "-"."""
    if text and _BARE.issuperset(text):
        return text
    return '"' + "".join(f"\\{letter}" if letter in "\"\\'" else letter for letter in text) + '"'


def rate(average: int, scale: int = _SCALE) -> str:
    """A rate ("5/min") from the average distance between two packets, in parts of a second.

    It uses the shortest period in which the number is accurate: the remainder is less than the number.
    """
    period = max(average, 1)
    found = _PERIODS[-1]
    for seconds, word in reversed(_PERIODS):
        count, left = divmod(seconds * scale, period)
        if word != "day" and (period > seconds * scale or count < left):
            break
        found = seconds, word
    return f"{found[0] * scale // period}/{found[1]}"
