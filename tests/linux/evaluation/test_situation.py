"""Registers, by their old and their new names."""

from netdiag.linux.evaluation.bits import Bits, known, unknown
from netdiag.linux.evaluation.packet import NOWHERE, Packet
from netdiag.linux.evaluation.situation import Situation


def test_a_register_is_four_small_ones() -> None:
    packet = Packet(family=4, protocol="tcp", source="10.0.0.1", destination="10.0.0.2")
    situation = Situation(packet=packet, hook="input", surroundings=NOWHERE)
    situation.load(2, known(b"abcdef"))
    assert situation.read(12, 4) == known(b"abcd")
    assert situation.read(13, 4) == known(b"ef\0\0")
    assert situation.read(14, 1) == unknown(1)
    situation.load(9, Bits(b"x", b"\xff"))
    assert situation.read(9, 4).complete
    assert situation.read(500, 4) == unknown(4)
