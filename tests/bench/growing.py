"""Make a capture larger: copies of it one after another, each with addresses and times of its own, or a part of it.

What is written is a stream: memory holds the capture that is grown and not what becomes of it. Checksums are left as
they were, as network cards leave them.
"""

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

_MAGIC = b"\xd4\xc3\xb2\xa1"
_FILE_HEADER, _RECORD_HEADER, _ETHERNET = 24, 16, 14
_SECONDS, _TYPE, _SOURCE, _TARGET, _PORTS, _SEQUENCE, _FLAGS = 0, 28, 42, 46, 50, 54, 63
_ACK = 0x10
_APART = 123_456_789
_MOST_COPIES = 65_536
_READERS = 200
_PIECE = 32_000_000

Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]


def grow(source: Path, target: Path, size: int, brokers: Sequence[int]) -> int:
    """Copies of a capture up to a size, the last one cut off at a packet; gives how many packets there are."""
    data = np.fromfile(source, np.uint8)
    if data[:4].tobytes() != _MAGIC:
        raise ValueError(f"'{source}' is no little-endian pcap file with microseconds")
    pieces = list(_pieces(data, offsets(data)))
    seconds = [_numbers(piece, places, _SECONDS) for piece, places in pieces]
    lasts = int(max(part.max() for part in seconds) - min(part.min() for part in seconds)) + 1
    written, packets = _FILE_HEADER, 0
    with target.open("wb") as file:
        file.write(data[:_FILE_HEADER].tobytes())
        for copy in range(_MOST_COPIES):
            for piece, places in pieces:
                fresh = _moved(piece, places, copy, lasts, brokers)
                kept = places
                if written + len(fresh) > size:
                    kept = places[places <= size - written]
                    fresh = fresh[: int(kept[-1]) if len(kept) else 0]
                    kept = kept[:-1]
                file.write(fresh.tobytes())
                written, packets = written + len(fresh), packets + len(kept)
                if len(kept) < len(places):
                    return packets
    raise ValueError(f"'{source}' is too small to become {size} bytes")


def cut(source: Path, target: Path, size: int) -> int:
    """The packets of the first `size` bytes; gives how many there are."""
    with source.open("rb") as file:
        data = np.frombuffer(file.read(size), np.uint8)
    places = offsets(data)
    end = int(places[-1]) + _RECORD_HEADER + _length(data, int(places[-1]))
    target.write_bytes(data[:end].tobytes())
    return len(places)


def offsets(data: Bytes) -> Places:
    """Where the records begin that are whole."""
    read, view, found = struct.Struct("<I").unpack_from, data.data, []
    place, size = _FILE_HEADER, len(data)
    while place + _RECORD_HEADER <= size:
        after = place + _RECORD_HEADER + read(view, place + 8)[0]
        if after > size:
            break
        found.append(place)
        place = after
    return np.array(found, np.int64)


def _length(data: Bytes, place: int) -> int:
    return int.from_bytes(data[place + 8 : place + 12].tobytes(), "little")


def _pieces(data: Bytes, places: Places) -> Iterator[tuple[Bytes, Places]]:
    """Runs of whole records of about the same size, with the places of the records in them."""
    begin = 0
    while begin < len(places):
        end = int(np.searchsorted(places, places[begin] + _PIECE))
        last = end - 1
        until = int(places[last]) + _RECORD_HEADER + _length(data, int(places[last]))
        first = int(places[begin])
        yield data[first:until], places[begin:end] - first
        begin = end


def _numbers(data: Bytes, places: Places, at: int) -> npt.NDArray[np.uint32]:
    """The little-endian number of four bytes at the same place of every record."""
    total = np.zeros(len(places), np.uint32)
    for number in range(4):
        total |= data[places + at + number].astype(np.uint32) << np.uint32(8 * number)
    return total


def _moved(piece: Bytes, places: Places, copy: int, lasts: int, brokers: Sequence[int]) -> Bytes:
    """A copy of these records: later by so many lengths of the whole, under addresses of their own."""
    fresh = piece.copy()
    seconds = _numbers(piece, places, _SECONDS) + np.uint32(copy * lasts)
    for number in range(4):
        fresh[places + _SECONDS + number] = (seconds >> np.uint32(8 * number)).astype(np.uint8)
    packets = places[(piece[places + _TYPE] == 8) & (piece[places + _TYPE + 1] == 0)]
    ordered = np.sort(np.array(brokers))
    for address, port in ((_SOURCE, _PORTS), (_TARGET, _PORTS + 2)):
        number = piece[packets + port].astype(np.int64) * 256 + piece[packets + port + 1]
        broker = np.isin(number, ordered)
        host = np.where(broker, 1 + np.searchsorted(ordered, number), 20 + number % _READERS)
        for place, value in enumerate((10 + copy // 65_536, copy // 256 % 256, copy % 256)):
            fresh[packets + address + place] = value
        fresh[packets + address + 3] = host.astype(np.uint8)
    # the same bytes under the same numbers would be one connection whose addresses are translated on the way
    shift = np.uint32(copy * _APART % 2**32)
    acknowledging = packets[piece[packets + _FLAGS] & _ACK != 0]
    for at, chosen in ((_SEQUENCE, packets), (_SEQUENCE + 4, acknowledging)):
        shifted = (np.stack([piece[chosen + at + byte] for byte in range(4)], 1).view(">u4").ravel() + shift).astype(
            ">u4"
        )
        for byte, column in enumerate(shifted.view(np.uint8).reshape(-1, 4).T):
            fresh[chosen + at + byte] = column
    return fresh
