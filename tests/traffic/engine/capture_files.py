"""Capture files made from literals: pcap in its variants, pcapng block by block."""

from collections.abc import Iterable, Sequence
from struct import pack

from netdiag.traffic.engine.packet import Packet
from netdiag.traffic.engine.records import CaptureReader

SECOND = 1_000_000_000
# The time of the first packet of a test, in nanoseconds.
START = 1_700_000_000 * SECOND


def pcap(
    packets: Iterable[tuple[int, bytes]],
    *,
    order: str = "<",
    nanoseconds: bool = False,
    modified: bool = False,
    link: int = 1,
    snaplen: int = 262_144,
) -> bytes:
    """A pcap file of (time, bytes); what is longer than `snaplen` is cut."""
    magic = 0xA1B2CD34 if modified else 0xA1B23C4D if nanoseconds else 0xA1B2C3D4
    made = [pack(order + "IHHiIII", magic, 2, 4, 0, 0, snaplen, link)]
    for index, (time, data) in enumerate(packets):
        kept = data[:snaplen]
        part = time % SECOND // (1 if nanoseconds else 1000)
        made.append(pack(order + "IIII", time // SECOND, part, len(kept), len(data)))
        if modified:
            made.append(pack(order + "IHBB", index + 1, 0x0800, 0, 0))
        made.append(kept)
    return b"".join(made)


def block(kind: int, body: bytes, *, order: str = "<") -> bytes:
    """A block of pcapng, padded."""
    body += b"\0" * (-len(body) % 4)
    length = pack(order + "I", len(body) + 12)
    return pack(order + "I", kind) + length + body + length


def option(code: int, value: bytes, *, order: str = "<") -> bytes:
    """An option of a block, padded."""
    return pack(order + "HH", code, len(value)) + value + b"\0" * (-len(value) % 4)


def section(*, order: str = "<") -> bytes:
    """A section header."""
    return block(0x0A0D0D0A, pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1), order=order)


def interface(*, link: int = 1, snaplen: int = 0, options: bytes = b"", order: str = "<") -> bytes:
    """A description of an interface; `options` with their end."""
    return block(1, pack(order + "HHI", link, 0, snaplen) + options, order=order)


def enhanced(ticks: int, data: bytes, *, index: int = 0, wire: int | None = None, order: str = "<") -> bytes:
    """An enhanced packet block."""
    length = len(data) if wire is None else wire
    head = pack(order + "IIIII", index, ticks >> 32, ticks & 0xFFFFFFFF, len(data), length)
    return block(6, head + data + b"\0" * (-len(data) % 4), order=order)


def read(data: bytes, *, piece: int | None = None, **options: int) -> tuple[list[Packet], CaptureReader]:
    """The packets of a file that is fed in pieces of this size."""
    reader = CaptureReader(**options)
    packets: list[Packet] = []
    for begin in range(0, len(data), piece or max(1, len(data))):
        packets += reader.feed(data[begin : begin + (piece or len(data))])
    packets += reader.finish()
    return packets, reader


def accounted(reader: CaptureReader) -> int:
    """How many bytes the reader has an explanation for."""
    account = reader.account
    assert sum(loss.bytes for loss in account.losses) == account.lost_bytes
    return account.packet_bytes + account.header_bytes + account.filtered_bytes + account.lost_bytes


def times(packets: Sequence[Packet]) -> list[int]:
    """When they were captured."""
    return [packet.time for packet in packets]
