"""Packets made from literals, layer by layer, without a library that could share our errors."""

from ipaddress import ip_address
from struct import pack

from netdiag.traffic.engine.packet import Packet

MACS = bytes.fromhex("020000000001020000000002")
CLIENT, BROKER = "10.0.0.7", "10.0.0.2"
CLIENT6, BROKER6 = "fd00::7", "fd00::2"


def checksum(data: bytes) -> int:
    """The checksum of the Internet (RFC 1071)."""
    total = sum(int.from_bytes(data[index : index + 2].ljust(2, b"\0"), "big") for index in range(0, len(data), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def tcp(
    payload: bytes = b"",
    *,
    source: int = 40000,
    destination: int = 9092,
    sequence: int = 1,
    acknowledgement: int = 2,
    flags: int = 0x18,
    window: int = 512,
    options: bytes = b"",
) -> bytes:
    """A TCP segment."""
    options += b"\0" * (-len(options) % 4)
    offset = (5 + len(options) // 4) << 4
    head = pack(">HHIIBBHHH", source, destination, sequence, acknowledgement, offset, flags, window, 0, 0)
    return head + options + payload


def udp(payload: bytes, *, source: int = 40000, destination: int = 53) -> bytes:
    """A UDP datagram."""
    return pack(">HHHH", source, destination, 8 + len(payload), 0) + payload


def ipv4(
    payload: bytes,
    *,
    protocol: int = 6,
    source: str = CLIENT,
    destination: str = BROKER,
    total: int | None = None,
    fragment: int = 0x4000,
    identification: int = 77,
    options: bytes = b"",
) -> bytes:
    """An IPv4 packet with a true checksum."""
    length = 20 + len(options)
    total = length + len(payload) if total is None else total
    head = pack(">BBHHHBBH", 0x40 | length // 4, 0, total, identification, fragment, 64, protocol, 0)
    head += ip_address(source).packed + ip_address(destination).packed + options
    return head[:10] + pack(">H", checksum(head)) + head[12:] + payload


def ipv6(
    payload: bytes,
    *,
    protocol: int = 6,
    source: str = CLIENT6,
    destination: str = BROKER6,
    length: int | None = None,
) -> bytes:
    """An IPv6 packet."""
    head = pack(">IHBB", 6 << 28, len(payload) if length is None else length, protocol, 64)
    return head + ip_address(source).packed + ip_address(destination).packed + payload


def ethernet(payload: bytes, *, ethertype: int = 0x0800) -> bytes:
    """An Ethernet frame."""
    return MACS + pack(">H", ethertype) + payload


def packet(data: bytes, *, link: int = 1, length: int | None = None, interface: str = "") -> Packet:
    """What a reader would give."""
    return Packet(5, link, interface, memoryview(data), len(data) if length is None else length, 3, 1)
