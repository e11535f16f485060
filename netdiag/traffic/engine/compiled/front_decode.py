"""The headers of one packet, as far as they are the usual ones: link, IPv4 or IPv6, TCP.

What is found here is what `links.decode_packet` finds; whatever it would have to look at more closely (VLANs, tunnels,
fragments, extension headers, damage) stays with it.
"""

from typing import Any

import numpy as np

from netdiag.traffic.engine.compiled.front_keys import NO_PAIR, KeyArrays, look_up
from netdiag.traffic.engine.compiled.kernel import kernel

_NO_FRAGMENT = 0x3FFF
_LARGEST = 0x7FFFFFFF


@kernel
def half(data: Any, at: Any) -> Any:
    """Two bytes of the network."""
    at = np.uint64(at)
    return np.int64(data[at]) << 8 | np.int64(data[at + np.uint64(1)])


@kernel
def whole(data: Any, at: Any) -> Any:
    """Four bytes of the network."""
    at = np.uint64(at)
    return (
        np.int64(data[at]) << 24
        | np.int64(data[at + np.uint64(1)]) << 16
        | np.int64(data[at + np.uint64(2)]) << 8
        | np.int64(data[at + np.uint64(3)])
    )


@kernel
def decode(data: Any, packet: Any, table: KeyArrays) -> bool:
    """Fill in what the packet carries; False where the table of pairs must grow first, and nothing was done."""
    packet.segment = 0
    packet.key = -1
    begin, captured = packet.start, np.int64(packet.captured)
    cut, end = begin + captured, begin + max(np.int64(packet.length), captured)
    position, version = _network(data, begin, cut, packet.link_type)
    if version == 4:
        return _version4(data, packet, table, position, cut, end)
    if version == 6:
        return _version6(data, packet, table, position, cut, end)
    return True


@kernel
def decode_at(data: Any, rows: Any, index: int, table: KeyArrays) -> bool:
    """The same of one row."""
    return decode(data, rows[index], table)


@kernel
def _network(data: Any, begin: int, cut: int, link: int) -> Any:
    """Where the header of IP begins, and its version; 0 where there is something else."""
    header = 0
    if link == 1:
        header = 14
    elif link == 113:
        header = 16
    elif link == 276:
        header = 20
    elif link == 0 or link == 108:
        return _after_family(data, begin, cut)
    elif link == 101 or link == 12 or link == 14 or link == 228 or link == 229:
        if begin < cut:
            return begin, np.int64(data[begin]) >> 4
        return begin, 0
    if header == 0 or begin + header > cut:
        return begin, 0
    ethertype = half(data, begin if header == 20 else begin + header - 2)
    if ethertype == 0x0800:
        return begin + header, 4
    if ethertype == 0x86DD:
        return begin + header, 6
    return begin, 0


@kernel
def _after_family(data: Any, begin: int, cut: int) -> Any:
    if begin + 4 > cut:
        return begin, 0
    number = whole(data, begin)
    if number >> 24:
        number = (
            np.int64(data[begin + 3]) << 24
            | np.int64(data[begin + 2]) << 16
            | np.int64(data[begin + 1]) << 8
            | np.int64(data[begin])
        )
    if number == 2:
        return begin + 4, 4
    if number == 10 or number == 23 or number == 24 or number == 28 or number == 30:
        return begin + 4, 6
    return begin, 0


@kernel
def _version4(data: Any, packet: Any, table: KeyArrays, position: int, cut: Any, end: Any) -> bool:
    if position + 20 > cut:
        return True
    first = np.int64(data[position])
    header, total = (first & 15) * 4, half(data, position + 2)
    if first >> 4 != 4 or header < 20 or 0 < total < header:
        return True
    if half(data, position + 6) & _NO_FRAGMENT or data[position + 9] != 6:
        return True
    if total and (position + total <= end or _is_sound(data, position, header, cut)):
        end = position + total
    packet.identification = half(data, position + 4)
    return _tcp(data, packet, table, position + 12, 4, position + header, cut, end)


@kernel
def _is_sound(data: Any, position: int, header: Any, cut: Any) -> bool:
    if position + header > cut:
        return False
    total = 0
    for at in range(position, position + header, 2):
        total += half(data, at)
    return total % 0xFFFF == 0 and total > 0


@kernel
def _version6(data: Any, packet: Any, table: KeyArrays, position: int, cut: Any, end: Any) -> bool:
    if position + 40 > cut or data[position] >> 4 != 6 or data[position + 6] != 6:
        return True
    length = half(data, position + 4)
    if length:
        end = min(end, position + 40 + length)
    packet.identification = -1
    return _tcp(data, packet, table, position + 8, 16, position + 40, cut, end)


@kernel
def _tcp(
    data: Any, packet: Any, table: KeyArrays, addresses: int, width: int, position: Any, cut: Any, end: Any
) -> bool:
    if position + 16 > min(cut, end):
        return True
    payload = position + (np.int64(data[position + 12]) >> 4) * 4
    size = end - payload
    if payload < position + 20 or size < 0 or size > _LARGEST:
        return True
    key = look_up(table, data, addresses, addresses + width, width, position)
    if key < 0:
        return bool(key == NO_PAIR)
    packet.key = key
    packet.payload = payload
    packet.size = size
    packet.kept = max(0, min(end, cut) - payload)
    packet.sequence = whole(data, position + 4)
    packet.acknowledgement = whole(data, position + 8)
    packet.flags = data[position + 13]
    packet.window = half(data, position + 14)
    packet.segment = 1
    return True
