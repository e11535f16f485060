"""Where the evaluation of a rule stands: the packet, the registers; and what a rule can decide."""

import dataclasses
import sys
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Literal

from netdiag.linux.evaluation.bits import Bits, unknown
from netdiag.linux.evaluation.packet import ConnectionState, Packet, Surroundings
from netdiag.linux.ruleset import ElementSet
from netdiag.values import dataclass

# NFT_REG_1 to NFT_REG_4 are the old names of four registers each.
_OLD_REGISTERS = {1: 0, 2: 16, 3: 32, 4: 48}
_FIRST_REGISTER = 8
_SPACE = 80

Word = Literal["accept", "drop", "reject", "jump", "goto", "return", "continue", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a rule says once its conditions hold.

    `chain` is where a jump or goto leads, `kind` what a reject sends ("icmp port-unreachable", "tcp reset"). `because`
    is for "unknown": what is not known.
    """

    word: Word
    chain: str = ""
    kind: str = ""
    because: str = ""


@dataclasses.dataclass(slots=True, kw_only=True)
class Situation:
    """Changed while a rule is evaluated: registers, and the packet by rules that mark or translate it.

    `tracked` is False where connection tracking has not seen the packet yet.
    """

    packet: Packet
    hook: str
    surroundings: Surroundings
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
        """What connection tracking has seen already stays as it is."""
        if not self.tracked:
            self.packet = replace(self.packet, state=ConnectionState.UNTRACKED)

    def load(self, register: int, bits: Bits) -> None:
        """Put into a register, padded to words of four bytes as the kernel does."""
        start, length = _offset(register), -(-len(bits.value) // 4) * 4
        padding = length - len(bits.value)
        self.value[start : start + length] = bits.value + bytes(padding)
        self.known[start : start + length] = bits.known + b"\xff" * padding

    def read(self, register: int, length: int) -> Bits:
        """So many bytes of a register and those after it."""
        start = _offset(register)
        value, mask = bytes(self.value[start : start + length]), bytes(self.known[start : start + length])
        return Bits(value, mask) if len(value) == length else unknown(length)


def native_number(number: int) -> bytes:
    """Four bytes in the order of this machine, as the kernel keeps marks and indexes."""
    return number.to_bytes(4, sys.byteorder)


def _offset(register: int) -> int:
    if register in _OLD_REGISTERS:
        return _OLD_REGISTERS[register]
    return (register - _FIRST_REGISTER) * 4 if _FIRST_REGISTER <= register < _FIRST_REGISTER + 20 else _SPACE
