"""The headers of a packet as bytes, as far as they are known: what payload expressions read.

Sources: RFC 791, RFC 8200, RFC 9293, RFC 768.
"""

import ipaddress

from netdiag.linux.evaluation.bits import Bits, joined, known, unknown
from netdiag.linux.evaluation.packet import ConnectionState, Packet
from netdiag.linux.protocols import protocol_number

_SYN, _ECHO, _ECHO6 = 0x02, 8, 128
_TCP, _UDP, _ICMP, _ICMP6 = 6, 17, 1, 58


def network_header(packet: Packet) -> Bits:
    """Of IPv4 without options, or IPv6 without extension headers; TTL, identification and the like are not known."""
    number = protocol_number(packet.protocol)
    protocol = unknown(1) if number is None else known(bytes([number]))
    source, destination = _address(packet.source, packet.family), _address(packet.destination, packet.family)
    if packet.family == 4:
        first = [known(b"\x45"), unknown(5), Bits(b"\0\0", b"\x3f\xff"), unknown(1), protocol, unknown(2)]
        return joined([*first, source, destination])
    return joined([Bits(b"\x60\0\0\0", b"\xf0\0\0\0"), unknown(2), protocol, unknown(1), source, destination])


def transport_header(packet: Packet) -> Bits:
    """As far as it is there in the first packet of a connection."""
    number = protocol_number(packet.protocol)
    ports = [_port(packet.source_port), _port(packet.destination_port)]
    if number == _TCP:
        return joined([*ports, unknown(9), _tcp_flags(packet), unknown(6)])
    if number == _UDP:
        return joined([*ports, unknown(4)])
    if number in (_ICMP, _ICMP6) and packet.state is ConnectionState.NEW:
        return joined([known(bytes([_ECHO if number == _ICMP else _ECHO6, 0])), unknown(6)])
    return unknown(20)


def read(header: Bits, offset: int, length: int) -> Bits:
    """So many bytes of it; those beyond its end are not known."""
    value = header.value[offset : offset + length]
    mask = header.known[offset : offset + length]
    return Bits(value.ljust(length, b"\0"), mask.ljust(length, b"\0"))


def _tcp_flags(packet: Packet) -> Bits:
    if packet.tcp_flags is not None:
        return known(bytes([packet.tcp_flags & 0xFF]))
    # The first packet of a connection has SYN alone; ECN bits are the sender's affair.
    if packet.state is ConnectionState.NEW and not packet.reply:
        return Bits(bytes([_SYN]), b"\x3f")
    return unknown(1)


def _address(text: str, family: int) -> Bits:
    length = 4 if family == 4 else 16
    try:
        packed = ipaddress.ip_address(text).packed
    except ValueError:
        return unknown(length)
    return known(packed) if len(packed) == length else unknown(length)


def _port(port: int | None) -> Bits:
    return unknown(2) if port is None else known(port.to_bytes(2, "big"))
