"""A seed to a damaged capture: what a card, a disk, a tool or somebody with intentions makes of a real one.

`LOSING` takes away, repeats or swaps packets and leaves their bytes alone, so nothing may be found in the result that
was not in the capture; the other kinds change bytes, and may make messages that nobody sent.
"""

import random
import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent
LINUX_SLL2, ETHERNET = 276, 1
_PCAP_MICRO, _PCAP_NANO = 0xA1B2C3D4, 0xA1B23C4D
# where the IPv4 header begins in a packet of these kinds of links
_IP_AT = {ETHERNET: 14, LINUX_SLL2: 20}


class Record(NamedTuple):
    """A packet: microseconds, what was kept of it, its length on the wire."""

    time: int
    data: bytes
    length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """The packets of a file."""

    link_type: int
    records: tuple[Record, ...]


class Damaged(NamedTuple):
    """A damaged capture: of which file, in which ways, and whether only by ways of `LOSING`."""

    name: str
    ways: tuple[str, ...]
    data: bytes
    only_lost: bool


@cache
def originals() -> dict[str, Capture]:
    """The captures beside this module, by name."""
    return {path.stem: read(path.read_bytes()) for path in sorted(FOLDER.glob("*.pcap"))}


def read(data: bytes) -> Capture:
    """A little-endian pcap file with microseconds, whole."""
    magic, *_, link_type = struct.unpack_from("<IHHiIII", data)
    assert magic == _PCAP_MICRO
    records, offset = [], 24
    while offset < len(data):
        seconds, micros, kept, length = struct.unpack_from("<IIII", data, offset)
        offset += 16
        records.append(Record(seconds * 1_000_000 + micros, data[offset : offset + kept], length))
        offset += kept
    return Capture(link_type=link_type, records=tuple(records))


def damaged(seed: int) -> Damaged:
    """The capture of a seed, always the same."""
    chance = random.Random(seed)
    name = chance.choice(sorted(originals()))
    capture = originals()[name]
    ways = chance.sample(sorted(LOSING), chance.randint(0, 2))
    wild = chance.sample(sorted(CHANGING), chance.randint(0 if ways else 1, 2))
    records = list(capture.records)
    for way in ways:
        records = LOSING[way](chance, records)
    for way in wild:
        records = CHANGING[way](chance, records, _IP_AT[capture.link_type])
    form = chance.choice(sorted(FORMS))
    data = FORMS[form](Capture(link_type=capture.link_type, records=tuple(records)))
    spoiled = chance.sample(sorted(SPOILING), 1) if chance.random() < 0.4 else []
    for way in spoiled:
        data = SPOILING[way](chance, data)
    only_lost = not wild and set(spoiled) <= {"file ends"}
    return Damaged(name, (*ways, *wild, form, *spoiled), data, only_lost)


def _dropped(chance: random.Random, records: list[Record]) -> list[Record]:
    return [record for record in records if chance.random() >= 0.2]


def _repeated(chance: random.Random, records: list[Record]) -> list[Record]:
    return [copy for record in records for copy in [record] * (2 if chance.random() < 0.3 else 1)]


def _swapped(chance: random.Random, records: list[Record]) -> list[Record]:
    width = chance.choice((1, 2, 8))
    places = sorted(range(len(records)), key=lambda place: place + chance.uniform(0, width))
    times = [record.time for record in records]
    return [records[place]._replace(time=time) for place, time in zip(places, times, strict=True)]


def _unsorted(chance: random.Random, records: list[Record]) -> list[Record]:
    """As from several processors: the times are right, the order is not."""
    return sorted(records, key=lambda record: record.time + chance.randint(0, 20_000))


def _cut_short(chance: random.Random, records: list[Record]) -> list[Record]:
    kept = chance.choice((60, 68, 96, 128, 256))
    return [record._replace(data=record.data[:kept]) for record in records]


def _begun_late(chance: random.Random, records: list[Record]) -> list[Record]:
    return records[chance.randrange(len(records)) :]


def _flipped(chance: random.Random, records: list[Record], ip: int) -> list[Record]:
    del ip
    for place in chance.sample(range(len(records)), min(len(records), chance.randint(1, 12))):
        records[place] = records[place]._replace(data=flipped(chance, records[place].data))
    return records


def _lies_of_headers(chance: random.Random, records: list[Record], ip: int) -> list[Record]:
    """The lengths in the headers of IP and TCP."""
    for place in chance.sample(range(len(records)), min(len(records), chance.randint(1, 8))):
        data = bytearray(records[place].data)
        field = chance.choice((ip, ip + 2, ip + 3, ip + 32, ip - 2, ip + 9))
        if field < len(data):
            data[field] = chance.choice((0, 1, 0x0F, 0x40, 0x4F, 0x50, 0xF0, 0xFF, chance.randrange(256)))
        records[place] = records[place]._replace(data=bytes(data))
    return records


def _lies_of_messages(chance: random.Random, records: list[Record], ip: int) -> list[Record]:
    """Sizes, counts and lengths at the beginning of what TCP carries: 4 bytes at a time."""
    longer = [place for place, record in enumerate(records) if len(record.data) > ip + 20 + 20 + 16]
    for place in chance.sample(longer, min(len(longer), chance.randint(1, 8))):
        data = bytearray(records[place].data)
        payload = ip + (data[ip] & 0x0F) * 4
        payload += (data[payload + 12] >> 4) * 4 if payload + 12 < len(data) else 0
        lie = chance.choice((0, 1, 3, 0x7F, 0xFFFF, 104_857_600, 0x7FFFFFFF, -1, -2, -0x80000000))
        at = payload + chance.choice((0, 0, 0, 4, 8, 12, chance.randrange(64)))
        if at + 4 <= len(data):
            struct.pack_into(">i", data, at, lie)
        records[place] = records[place]._replace(data=bytes(data))
    return records


def _lies_of_records(chance: random.Random, records: list[Record], ip: int) -> list[Record]:
    """How long the packet is said to have been."""
    del ip
    for place in chance.sample(range(len(records)), min(len(records), chance.randint(1, 8))):
        lie = chance.choice((0, 1, 0xFFFF, 262_144, 0x7FFFFFFF, 0xFFFFFFFF, len(records[place].data) - 1))
        records[place] = records[place]._replace(length=max(0, lie))
    return records


def flipped(chance: random.Random, data: bytes) -> bytes:
    """A few bits the other way."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 8) if changed else 0):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _file_ends(chance: random.Random, data: bytes) -> bytes:
    return data[: chance.randrange(len(data))]


def _bytes_missing(chance: random.Random, data: bytes) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + data[at + chance.randint(1, 4000) :]


def _bytes_between(chance: random.Random, data: bytes) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + chance.choice((chance.randbytes, bytes))(chance.randint(1, 4000)) + data[at:]


def _numbers_overwritten(chance: random.Random, data: bytes) -> bytes:
    """Where the headers of records or blocks may lie as well as anywhere else."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(data))
        lie = chance.choice((0, 4, 12, 0x7FFFFFFF, 0xFFFFFFFF, 0xFFFFFFFC, 262_145))
        changed[at : at + 4] = struct.pack("<I", lie)[: len(changed) - at]
    return bytes(changed)


def pcap(capture: Capture, order: str = "<", *, nano: bool = False) -> bytes:
    """As a pcap file."""
    head = struct.pack(order + "IHHiIII", _PCAP_NANO if nano else _PCAP_MICRO, 2, 4, 0, 0, 262_144, capture.link_type)
    parts = [head]
    for time, data, length in capture.records:
        seconds, micros = divmod(time, 1_000_000)
        fraction = micros * 1000 if nano else micros
        parts += (struct.pack(order + "IIII", seconds, fraction, len(data), length), data)
    return b"".join(parts)


def pcapng(capture: Capture, order: str = "<") -> bytes:
    """As a pcapng file with one interface."""
    parts = [
        _block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1)),
        _block(order, 1, struct.pack(order + "HHI", capture.link_type, 0, 0)),
    ]
    for time, data, length in capture.records:
        head = struct.pack(order + "IIIII", 0, time >> 32, time & 0xFFFFFFFF, len(data), length)
        parts.append(_block(order, 6, head + data))
    return b"".join(parts)


def _block(order: str, kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    size = struct.pack(order + "I", len(body) + 12)
    return struct.pack(order + "I", kind) + size + body + size


LOSING: dict[str, Callable[[random.Random, list[Record]], list[Record]]] = {
    "20 % dropped": _dropped,
    "repeated": _repeated,
    "swapped": _swapped,
    "unsorted": _unsorted,
    "cut short": _cut_short,
    "begun late": _begun_late,
}
CHANGING: dict[str, Callable[[random.Random, list[Record], int], list[Record]]] = {
    "bits flipped": _flipped,
    "lies of headers": _lies_of_headers,
    "lies of messages": _lies_of_messages,
    "lies of records": _lies_of_records,
}
FORMS: dict[str, Callable[[Capture], bytes]] = {
    "pcap": pcap,
    "pcap, big-endian": lambda capture: pcap(capture, ">"),
    "pcap, nanoseconds": lambda capture: pcap(capture, nano=True),
    "pcapng": pcapng,
    "pcapng, big-endian": lambda capture: pcapng(capture, ">"),
}
SPOILING: dict[str, Callable[[random.Random, bytes], bytes]] = {
    "bits of the file flipped": flipped,
    "file ends": _file_ends,
    "bytes missing": _bytes_missing,
    "bytes between": _bytes_between,
    "numbers overwritten": _numbers_overwritten,
}
