"""Files that tcpdump and dumpcap are still writing, read as packet blocks of our own file while they grow.

The tool begins a new spool file when one is large; a file that has been read is removed, so the spool holds what the
reader is behind by. Both write in the byte order of this machine; anything else is no file of theirs.
"""

import os
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from netdiag.errors import NetdiagError
from netdiag.io.packets.pcapng_writer import LINKTYPE_SLL2, Packers, encode_packet

_CHUNK = 1 << 20
_LARGEST = 1 << 20
_PCAP_HEADER = struct.Struct("=IHHiIII")
_PCAP_NANOSECONDS = 0xA1B23C4D
_RECORD = struct.Struct("=IIII")
_BLOCK = struct.Struct("=II")
_PACKET = struct.Struct("=IIIII")
_SECTION, _INTERFACE, _EPB = 0x0A0D0D0A, 1, 6
_IF_NAME, _IF_TSRESOL = 2, 9
_SLL2_INDEX = struct.Struct("!I")
_SLL2_INDEX_AT = 4

# The number in our file of a link: by index where the tool tells no name, by name else; None for one not wanted.
NumberOf = Callable[[int | str, int], int | None]


class Decoder(Protocol):
    """Bytes of one spool file, in any pieces, to packet blocks."""

    def feed(self, data: bytes) -> list[bytes]:
        """The packets that are complete now."""


class PcapDecoder:
    """What tcpdump writes: pcap with nanoseconds; cooked v2 where it takes every link."""

    def __init__(self, number_of: NumberOf) -> None:
        self._number_of = number_of
        self._rest = b""
        self._linktype: int | None = None
        self._packers = Packers()
        self._known: dict[int, int | None] = {}

    def feed(self, data: bytes) -> list[bytes]:
        data = self._rest + data
        at, end, found = 0, len(data), []
        if self._linktype is None:
            if end < _PCAP_HEADER.size:
                self._rest = data
                return []
            magic, *_, self._linktype = _PCAP_HEADER.unpack_from(data)
            if magic != _PCAP_NANOSECONDS:
                raise NetdiagError("tcpdump does not write nanoseconds")
            at = _PCAP_HEADER.size
        cooked = self._linktype == LINKTYPE_SLL2
        while at + 16 <= end:
            seconds, nanoseconds, kept, length = _RECORD.unpack_from(data, at)
            _bounded(kept)
            if at + 16 + kept > end:
                break
            packet = data[at + 16 : at + 16 + kept]
            at += 16 + kept
            index = _SLL2_INDEX.unpack_from(packet, _SLL2_INDEX_AT)[0] if cooked and kept >= 8 else 0
            number = self._number(index)
            if number is not None:
                time = seconds * 1_000_000_000 + nanoseconds
                found.append(encode_packet(self._packers, number, time, packet, length))
        self._rest = data[at:]
        return found

    def _number(self, index: int) -> int | None:
        if index not in self._known:
            self._known[index] = self._number_of(index, self._linktype or 0)
        return self._known[index]


class PcapngDecoder:
    """What dumpcap writes: pcapng; its packet blocks stay as they are but for the number of the interface."""

    def __init__(self, number_of: NumberOf) -> None:
        self._number_of = number_of
        self._rest = b""
        self._interfaces: list[tuple[int | None, int]] = []
        self._packers = Packers()

    def feed(self, data: bytes) -> list[bytes]:
        data = self._rest + data
        at, end, found = 0, len(data), []
        while at + 12 <= end:
            kind, size = _BLOCK.unpack_from(data, at)
            _bounded(size)
            if size < 12:
                raise NetdiagError("dumpcap wrote a block that is none")
            if at + size > end:
                break
            block = data[at : at + size]
            at += size
            if kind == _EPB and (packet := self._packet(block)):
                found.append(packet)
            elif kind == _INTERFACE:
                self._interfaces.append(self._interface(block))
        self._rest = data[at:]
        return found

    def _packet(self, block: bytes) -> bytes | None:
        source, high, low, kept, length = _PACKET.unpack_from(block, 8)
        number, per_second = self._interfaces[source]
        if number is None:
            return None
        time = ((high << 32) | low) * (1_000_000_000 // per_second)
        return encode_packet(self._packers, number, time, block[28 : 28 + kept], length)

    def _interface(self, block: bytes) -> tuple[int | None, int]:
        (linktype,) = struct.unpack_from("=H", block, 8)
        name, per_second = "", 1_000_000
        for code, value in _options(block[16:-4]):
            if code == _IF_NAME:
                name = os.fsdecode(value)
            elif code == _IF_TSRESOL and value and value[0] <= 9:
                per_second = 10 ** value[0]
        return self._number_of(name, linktype), per_second


class Spool:
    """A folder into which one tool writes files one after the other, and how far they have been read."""

    def __init__(self, folder: Path, decoder: Callable[[], Decoder], following: Callable[[Path], list[Path]]) -> None:
        self._folder = folder
        self._decoder = decoder
        self._following = following
        self._path: Path | None = None
        self._descriptor: int | None = None
        self._reading: Decoder = decoder()

    def read(self) -> list[bytes]:
        """A piece of what is new, as packets; empty when everything that is there has been read."""
        while True:
            if self._descriptor is None and not self._next():
                return []
            # Whether there is a next file must be known before this one is found to be at its end.
            left = [path for path in self._following(self._folder) if path != self._path]
            data = os.read(self._descriptor, _CHUNK) if self._descriptor is not None else b""
            if data:
                found = self._reading.feed(data)
                if found:
                    return found
            elif left:
                self._leave()
            else:
                return []

    def close(self) -> None:
        """Close the file that is being read."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _next(self) -> bool:
        paths = self._following(self._folder)
        if not paths:
            return False
        self._path = paths[0]
        self._descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        self._reading = self._decoder()
        return True

    def _leave(self) -> None:
        self.close()
        if self._path is not None:
            with suppress(OSError):
                self._path.unlink()
            self._path = None


def _options(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        code, size = struct.unpack_from("=HH", data, at)
        if code == 0 or at + 4 + size > len(data):
            return
        yield code, data[at + 4 : at + 4 + size]
        at += 4 + size + (-size % 4)


def _bounded(size: int) -> None:
    if size > _LARGEST:
        raise NetdiagError(f"the capture tool wrote a packet of {size} bytes")
