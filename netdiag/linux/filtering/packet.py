"""A packet as rules see it, what a rule can decide about it, and how far the evaluation of a rule is.

A packet has fields, headers as bytes of which only some bits are known, and the view of the namespace in which rules
look things up. Comparisons give three values: yes, no, and not known. Sources: RFC 791, RFC 8200, RFC 9293, RFC 768.
"""

import dataclasses
import ipaddress
import sys
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from enum import Enum
from typing import Literal, NamedTuple

from netdiag.linux.ruleset import ElementSet, protocol_number
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


# NFT_REG_1 to NFT_REG_4 are the old names of four registers each.
_OLD_REGISTERS = {1: 0, 2: 16, 3: 32, 4: 48}
_FIRST_REGISTER = 8
_SPACE = 80

Word = Literal["accept", "drop", "reject", "jump", "goto", "return", "continue", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a rule does once its conditions hold.

    `chain` is where a jump or goto leads, `kind` what a reject sends ("icmp port-unreachable", "tcp reset"). `because`
    is for "unknown": what is not known.
    """

    word: Word
    chain: str = ""
    kind: str = ""
    because: str = ""


@dataclasses.dataclass(slots=True, kw_only=True)
class Evaluation:
    """The state of one evaluation: registers, and the packet, which rules may mark or translate.

    `tracked` is False where connection tracking has not seen the packet yet.
    """

    packet: Packet
    hook: str
    namespace: NamespaceView
    sets: Mapping[str, ElementSet] = field(default_factory=dict)
    translated: bool = False
    tracked: bool = True
    value: bytearray = field(default_factory=lambda: bytearray(_SPACE))
    known: bytearray = field(default_factory=lambda: bytearray(_SPACE))

    @property
    def state(self) -> ConnectionState:
        """The state that rules see: before connection tracking, and for what it will not track, there is none."""
        if self.tracked or self.packet.state is ConnectionState.UNTRACKED:
            return self.packet.state
        return ConnectionState.INVALID

    @property
    def connected(self) -> bool:
        """Whether there is a connection to ask about."""
        return self.state not in (ConnectionState.INVALID, ConnectionState.UNTRACKED)

    def leave_untracked(self) -> None:
        """Exempt the packet from connection tracking, unless that has seen it already."""
        if not self.tracked:
            self.packet = replace(self.packet, state=ConnectionState.UNTRACKED)

    def load(self, register: int, bits: Bits) -> None:
        """Store in a register, padded to words of four bytes as in the kernel."""
        start, length = _offset(register), -(-len(bits.value) // 4) * 4
        padding = length - len(bits.value)
        self.value[start : start + length] = bits.value + bytes(padding)
        self.known[start : start + length] = bits.known + b"\xff" * padding

    def read(self, register: int, length: int) -> Bits:
        """Read `length` bytes, from this register on."""
        start = _offset(register)
        value, mask = bytes(self.value[start : start + length]), bytes(self.known[start : start + length])
        return Bits(value, mask) if len(value) == length else unknown(length)


def native_number(number: int) -> bytes:
    """Four bytes in the byte order of this machine, in which the kernel keeps marks and indexes."""
    return number.to_bytes(4, sys.byteorder)


def _offset(register: int) -> int:
    if register in _OLD_REGISTERS:
        return _OLD_REGISTERS[register]
    return (register - _FIRST_REGISTER) * 4 if _FIRST_REGISTER <= register < _FIRST_REGISTER + 20 else _SPACE


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a packet is translated to. An address "" and a port 0 leave the packet's own; None is not known."""

    destination: bool
    first: str | None = ""
    last: str | None = ""
    first_port: int | None = 0
    last_port: int | None = 0
    netmap: bool = False


def translate(evaluation: Evaluation, target: Target) -> Decision:
    """Translate, or say that the result is not known."""
    if target.netmap:
        return Decision(word="unknown", because="translation of a whole network")
    if target.first is None or target.last is None or target.first_port is None or target.last_port is None:
        return Decision(word="unknown", because="translation to an address that is not known")
    if target.destination:
        return _to(evaluation, target)
    address = target.first if target.first == target.last else ""
    if target.first != target.last:
        return Decision(word="unknown", because=f"translation to one of {target.first} to {target.last}")
    if address:
        _from(evaluation, address, target.first_port)
    evaluation.translated = True
    return Decision(word="accept")


def masquerade(evaluation: Evaluation) -> Decision:
    """Translate the source to the address of the outgoing device; "" where that is not known."""
    find = evaluation.namespace.address_of
    _from(evaluation, find(evaluation.packet.out_link) if find else "", 0)
    evaluation.translated = True
    return Decision(word="accept")


def redirect(evaluation: Evaluation, first: int | None, last: int | None) -> Decision:
    """Translate the destination to this machine: loopback for its own packets, else the incoming device's address."""
    packet = evaluation.packet
    if evaluation.hook == "output":
        address = "127.0.0.1" if packet.family == 4 else "::1"
    else:
        find = evaluation.namespace.address_of
        address = find(packet.in_link) if find else ""
        if not address:
            return Decision(word="unknown", because=f"redirected to an address of {packet.in_link} that is not known")
    return translate(
        evaluation, Target(destination=True, first=address, last=address, first_port=first, last_port=last)
    )


def network_map(evaluation: Evaluation, network: str, *, destination: bool) -> Decision:
    """NETMAP: take the network part from `network` and keep the host part."""
    packet = evaluation.packet
    try:
        target = ipaddress.ip_network(network, strict=False)
        old = int(ipaddress.ip_address(packet.destination if destination else packet.source))
    except ValueError:
        return Decision(word="unknown", because="translation of an address that is not known")
    host = old & int(target.hostmask)
    made = type(target.network_address)(int(target.network_address) | host)
    return translate(evaluation, Target(destination=destination, first=str(made), last=str(made)))


def _to(evaluation: Evaluation, target: Target) -> Decision:
    packet = evaluation.packet
    if target.first != target.last:
        return Decision(word="unknown", because=f"translation to one of {target.first} to {target.last}")
    port = packet.destination_port
    if target.first_port and target.first_port == target.last_port:
        port = target.first_port
    elif target.first_port and (port is None or not target.first_port <= port <= (target.last_port or 0)):
        return Decision(
            word="unknown", because=f"translation to one of the ports {target.first_port} to {target.last_port}"
        )
    evaluation.packet = _before(
        packet, replace(packet, destination=target.first or packet.destination, destination_port=port)
    )
    evaluation.translated = True
    return Decision(word="accept")


def _before(old: Packet, new: Packet) -> Packet:
    """Remember what the client dialled; a translation that changes nothing is none."""
    if new == old:
        return old
    return replace(
        new,
        original_destination=old.original_destination or old.destination,
        original_destination_port=old.original_destination_port if old.original_destination else old.destination_port,
    )


def _from(evaluation: Evaluation, address: str, port: int) -> None:
    packet = evaluation.packet
    if address == packet.source and port in (0, packet.source_port):
        return
    evaluation.packet = replace(
        packet,
        source=address,
        source_port=port or packet.source_port,
        original_source=packet.original_source or packet.source,
        original_source_port=packet.original_source_port if packet.original_source else packet.source_port,
    )
