"""pcapng blocks as bytes: one section, its interfaces with nanoseconds, packets, counters of what was lost.

Blocks are in the byte order of this machine, which the section header says. Options hold text in UTF-8.
Source: draft-ietf-opsawg-pcapng.
"""

import struct
from collections.abc import Iterable
from typing import NamedTuple

from netdiag.values import dataclass

LINKTYPE_ETHERNET = 1
LINKTYPE_RAW = 101
LINKTYPE_SLL2 = 276

_MAGIC = 0x1A2B3C4D
_SECTION, _INTERFACE, _STATISTICS, _PACKET = 0x0A0D0D0A, 1, 5, 6
_COMMENT, _OS, _APPLICATION = 1, 3, 4
_IF_NAME, _IF_DESCRIPTION, _IF_TSRESOL, _IF_FILTER = 2, 3, 9, 11
_START, _END, _RECEIVED, _DROPPED_BY_OS, _DELIVERED = 2, 3, 4, 7, 8
_NANOSECONDS = b"\x09"
_LONGEST_OPTION = 60_000
_HEAD = struct.Struct("=IIIIIII")
PACKET_TIME = struct.Struct("=II")
PACKET_TIME_AT = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """One interface of the file; `filter` is the text of the filter, empty where every packet was taken."""

    name: str
    linktype: int
    snaplen: int
    filter: str = ""
    description: str = ""


class Counters(NamedTuple):
    """What one interface gave; `dropped` is None where it is counted elsewhere. Times are nanoseconds since 1970."""

    written: int
    dropped: int | None
    start: int
    end: int
    comment: str = ""


def encode_section(*, application: str, system: str = "", comment: str = "") -> bytes:
    """The section header; its length is left open, as the section grows."""
    options = _texts(((_COMMENT, comment), (_OS, system), (_APPLICATION, application)))
    return _block(_SECTION, struct.pack("=IHHq", _MAGIC, 1, 0, -1) + options)


def encode_interface(interface: Interface) -> bytes:
    """An interface; its number in the section is how many came before."""
    options = _texts(((_IF_NAME, interface.name), (_IF_DESCRIPTION, interface.description)))
    options = options[: -len(_END_OF_OPTIONS)] if options else b""
    options += _option(_IF_TSRESOL, _NANOSECONDS)
    if interface.filter:
        options += _option(_IF_FILTER, b"\0" + _utf8(interface.filter))
    fixed = struct.pack("=HHI", interface.linktype, 0, interface.snaplen)
    return _block(_INTERFACE, fixed + options + _END_OF_OPTIONS)


def encode_statistics(number: int, counters: Counters) -> bytes:
    """How many packets an interface gave and how many were lost, at the end of the capture."""
    options = _texts(((_COMMENT, counters.comment),)).removesuffix(_END_OF_OPTIONS)
    for code, time in ((_START, counters.start), (_END, counters.end)):
        options += _option(code, PACKET_TIME.pack(time >> 32, time & 0xFFFFFFFF))
    received = counters.written + (counters.dropped or 0)
    options += _option(_RECEIVED, struct.pack("=Q", received))
    if counters.dropped is not None:
        options += _option(_DROPPED_BY_OS, struct.pack("=Q", counters.dropped))
    options += _option(_DELIVERED, struct.pack("=Q", counters.written))
    fixed = struct.pack("=III", number, counters.end >> 32, counters.end & 0xFFFFFFFF)
    return _block(_STATISTICS, fixed + options + _END_OF_OPTIONS)


class Packers(dict[int, struct.Struct]):
    """For each captured length what packs a whole packet block; they are made when first asked for."""

    def __missing__(self, length: int) -> struct.Struct:
        packer = struct.Struct(f"=IIIIIII{length}s{-length % 4}xI")
        self[length] = packer
        return packer


def encode_packet(packers: Packers, number: int, time: int, data: bytes, length: int) -> bytes:
    """A packet of interface `number`: nanoseconds since 1970, what was kept of it, how long it was."""
    packer = packers[len(data)]
    size = packer.size
    return packer.pack(_PACKET, size, number, time >> 32, time & 0xFFFFFFFF, len(data), length, data, size)


def _texts(pairs: Iterable[tuple[int, str]]) -> bytes:
    options = b"".join(_option(code, _utf8(text)) for code, text in pairs if text)
    return options + _END_OF_OPTIONS if options else b""


def _utf8(text: str) -> bytes:
    data = text.encode("utf-8", errors="replace")
    return data[:_LONGEST_OPTION].decode("utf-8", errors="ignore").encode()


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("=HH", code, len(value)) + value + b"\0" * (-len(value) % 4)


_END_OF_OPTIONS = struct.pack("=HH", 0, 0)


def _block(kind: int, body: bytes) -> bytes:
    size = struct.pack("=I", len(body) + 12)
    return struct.pack("=I", kind) + size + body + size
