"""Capture files made from literals: pcap in its variants, pcapng block by block."""

from collections.abc import Iterable, Sequence
from struct import pack

from tests.native.packets import SECOND, Packet

# The time of the first packet of a test, in nanoseconds.
START = 1_700_000_000 * SECOND


def pcap_file(packets: Iterable[Packet], snap: int = 65_535) -> bytes:
    """Packets of Ethernet as tcpdump writes them, with nanoseconds; `snap` bytes of each are kept."""
    records = (
        pack("<IIII", *divmod(packet.time, SECOND), min(len(packet.data), snap), packet.length) + packet.data[:snap]
        for packet in packets
    )
    return pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, snap, 1) + b"".join(records)


def pcapng_file(packets: Sequence[Packet]) -> bytes:
    """Packets of Ethernet at several interfaces, as dumpcap writes them, with nanoseconds."""
    names = list(dict.fromkeys(packet.interface for packet in packets))
    nanoseconds = option(9, b"\x09")
    described = [interface(options=option(2, name.encode()) + nanoseconds + option(0, b"")) for name in names]
    blocks = [
        enhanced(packet.time, packet.data, index=names.index(packet.interface), wire=packet.length)
        for packet in packets
    ]
    return b"".join([section(), *described, *blocks])


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
