"""What a rule can decide about a packet, how far its evaluation is, and what address translation does to the packet."""

import dataclasses
import ipaddress
import sys
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Literal

from netdiag.linux.filtering.packet import Bits, ConnectionState, NamespaceView, Packet, unknown
from netdiag.linux.ruleset import ElementSet
from netdiag.values import dataclass

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
