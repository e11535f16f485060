"""A packet as rules see it: its fields, its headers as bytes of which only some bits are known, and the view of the
namespace in which rules look things up.

Comparisons give three values: yes, no, and not known. Sources: RFC 791, RFC 8200, RFC 9293, RFC 768.
"""

import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from enum import Enum
from typing import NamedTuple

from netdiag.linux.protocols import protocol_number
from netdiag.values import dataclass


class ConnectionState(Enum):
    """How connection tracking sees the packet; the value is the word of nft and iptables, in small letters."""

    NEW = "new"
    ESTABLISHED = "established"
    RELATED = "related"
    INVALID = "invalid"
    UNTRACKED = "untracked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Packet:
    """One packet at one hook.

    `family` is 4 or 6, `protocol` "tcp", "udp", "icmp", "icmpv6" or a number as text. A port is None where it is not
    known yet (the port that the kernel will choose for a client). `in_link` and `out_link` are names of devices, ""
    where the hook has none; `in_port` and `out_port` the ports of a bridge that the packet came by and leaves by. An
    answer (`reply`) is established. `tcp_flags` None stands for SYN in the first packet of a connection, and is not
    known in others. `original_destination` is where the first packet of the connection went before it was translated,
    "" if it was not; `original_source` likewise.
    """

    family: int
    protocol: str
    source: str
    destination: str
    source_port: int | None = None
    destination_port: int | None = None
    in_link: str = ""
    out_link: str = ""
    in_port: str = ""
    out_port: str = ""
    state: ConnectionState = ConnectionState.NEW
    reply: bool = False
    tcp_flags: int | None = None
    mark: int | None = 0
    connection_mark: int | None = 0
    original_destination: str = ""
    original_destination_port: int | None = None
    original_source: str = ""
    original_source_port: int | None = None

    @property
    def dialled(self) -> "Packet":
        """The connection's first packet as the client sent it, before any translation."""
        turned = (
            replace(
                self,
                source=self.destination,
                source_port=self.destination_port,
                destination=self.source,
                destination_port=self.source_port,
            )
            if self.reply
            else self
        )
        if self.original_source:
            turned = replace(turned, source=self.original_source, source_port=self.original_source_port)
        if self.original_destination:
            turned = replace(
                turned, destination=self.original_destination, destination_port=self.original_destination_port
            )
        return turned

    @property
    def destination_translated(self) -> bool:
        """Whether the destination differs from the one that the client connected to."""
        return bool(self.original_destination)

    @property
    def source_translated(self) -> bool:
        """Whether the source differs from the one that the server sees."""
        return bool(self.original_source)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceView:
    """What rules look up in the namespace. Whatever is not given is not known.

    `is_local` tells whether an address is one of the namespace's own. `address_of` is the address that a device would
    give as source, "" for none: MASQUERADE takes it, REDIRECT sends there. `ifindexes` are the devices by name.
    """

    is_local: Callable[[str], bool] | None = None
    address_of: Callable[[str], str] | None = None
    ifindexes: Mapping[str, int] = field(default_factory=dict)


NOTHING_KNOWN = NamespaceView()


Ternary = bool | None


class Bits(NamedTuple):
    """`known` has a one for every bit of `value` that is known; the others of `value` are zero."""

    value: bytes
    known: bytes

    @property
    def complete(self) -> bool:
        """Whether every bit is known."""
        return not self.known.strip(b"\xff")


def known(value: bytes) -> Bits:
    """All bits known."""
    return Bits(value, b"\xff" * len(value))


def unknown(length: int) -> Bits:
    """No bit known."""
    return Bits(bytes(length), bytes(length))


def joined(parts: list[Bits]) -> Bits:
    """Concatenate."""
    return Bits(b"".join(part.value for part in parts), b"".join(part.known for part in parts))


def masked(bits: Bits, mask: bytes, xor: bytes) -> Bits:
    """(bits & mask) ^ xor: what the mask takes away is known to be what `xor` says."""
    length = len(bits.value)
    keep, flip = _number(mask), _number(xor)
    value = (_number(bits.value) & keep) ^ flip
    certain = _number(bits.known) | (~keep & _ones(length))
    return Bits(_bytes(value & certain, length), _bytes(certain, length))


def equal(bits: Bits, other: bytes) -> Ternary:
    """Whether they are these bytes."""
    if (_number(bits.value) ^ _number(other)) & _number(bits.known):
        return False
    return True if bits.complete else None


def compare(bits: Bits, operator: str, other: bytes) -> Ternary:
    """Compare as big-endian numbers."""
    if operator in ("==", "!="):
        same = equal(bits, other)
        return same if operator == "==" or same is None else not same
    lowest = _number(bits.value)
    highest = lowest | (~_number(bits.known) & _ones(len(bits.value)))
    border = _number(other)
    match operator:
        case "<":
            return True if highest < border else False if lowest >= border else None
        case "<=":
            return True if highest <= border else False if lowest > border else None
        case ">":
            return True if lowest > border else False if highest <= border else None
        case ">=":
            return True if lowest >= border else False if highest < border else None
        case _:
            return None


def within(bits: Bits, first: bytes, last: bytes) -> Ternary:
    """Whether they are a number from `first` to `last`, both included."""
    return both(compare(bits, ">=", first), compare(bits, "<=", last))


def both(one: Ternary, other: Ternary) -> Ternary:
    """Three-valued AND."""
    if one is False or other is False:
        return False
    return None if one is None or other is None else True


def negated(value: Ternary, invert: bool) -> Ternary:
    """Three-valued NOT, if `invert`."""
    return None if value is None else value != invert


def _number(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _bytes(number: int, length: int) -> bytes:
    return number.to_bytes(length, "big")


def _ones(length: int) -> int:
    return (1 << 8 * length) - 1


_SYN, _ECHO, _ECHO6 = 0x02, 8, 128
_TCP, _UDP, _ICMP, _ICMP6 = 6, 17, 1, 58


def network_header(packet: Packet) -> Bits:
    """An IPv4 header without options, or an IPv6 header without extensions. TTL, identification etc. are not known."""
    number = protocol_number(packet.protocol)
    protocol = unknown(1) if number is None else known(bytes([number]))
    source, destination = _address(packet.source, packet.family), _address(packet.destination, packet.family)
    if packet.family == 4:
        first = [known(b"\x45"), unknown(5), Bits(b"\0\0", b"\x3f\xff"), unknown(1), protocol, unknown(2)]
        return joined([*first, source, destination])
    return joined([Bits(b"\x60\0\0\0", b"\xf0\0\0\0"), unknown(2), protocol, unknown(1), source, destination])


def transport_header(packet: Packet) -> Bits:
    """The TCP, UDP or ICMP header, as far as it is known for the first packet of a connection."""
    number = protocol_number(packet.protocol)
    ports = [_port(packet.source_port), _port(packet.destination_port)]
    if number == _TCP:
        return joined([*ports, unknown(9), _tcp_flags(packet), unknown(6)])
    if number == _UDP:
        return joined([*ports, unknown(4)])
    if number in (_ICMP, _ICMP6) and packet.state is ConnectionState.NEW:
        return joined([known(bytes([_ECHO if number == _ICMP else _ECHO6, 0])), unknown(6)])
    return unknown(20)


def header_bytes(header: Bits, offset: int, length: int) -> Bits:
    """`length` bytes of a header; those beyond its end are not known."""
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
