"""Keys in sets of every shape."""

import pytest

from netdiag.linux.evaluation.bits import Bits, known, unknown
from netdiag.linux.evaluation.lookups import look_up
from netdiag.linux.evaluation.packet import NOWHERE, Packet
from netdiag.linux.evaluation.situation import Situation
from netdiag.linux.ruleset import ElementSet, SetEntry

PLAIN = ElementSet(
    name="s",
    key_type="inet_service",
    entries=(SetEntry(key=b"\0\x50", last=b"\0\x50"), SetEntry(key=b"\1\0", last=b"\2\0")),
)
PAIRS = ElementSet(
    name="p",
    key_type="ipv4_addr . inet_service",
    field_lengths=(4, 2),
    entries=(SetEntry(key=b"\x0a\0\0\0\0\x50\0\0", last=b"\x0a\0\0\xff\0\x51\0\0"),),
)


def situation(bits: Bits) -> Situation:
    packet = Packet(family=4, protocol="tcp", source="10.0.0.1", destination="10.0.0.2")
    made = Situation(packet=packet, hook="input", surroundings=NOWHERE)
    made.load(1, bits)
    return made


@pytest.mark.parametrize(
    ("bits", "answer"),
    [
        (known(b"\0\x50"), True),
        (known(b"\1\x50"), True),
        (known(b"\0\x51"), False),
        (unknown(2), None),
        (Bits(b"\xf0\0", b"\xf0\0"), False),
    ],
)
def test_values_and_intervals(bits: Bits, answer: bool | None) -> None:
    assert look_up(PLAIN, situation(bits), 1).matches is answer


@pytest.mark.parametrize(
    ("key", "answer"),
    [(b"\x0a\0\0\x07\0\x51\0\0", True), (b"\x0a\0\0\x07\0\x52\0\0", False), (b"\x0a\0\1\x07\0\x50\0\0", False)],
)
def test_keys_of_several_parts_are_compared_part_by_part(key: bytes, answer: bool) -> None:
    assert look_up(PAIRS, situation(known(key)), 1).matches is answer


def test_an_element_for_all_others() -> None:
    rest = SetEntry(key=b"", last=b"", verdict="drop")
    found = look_up(
        ElementSet(name="m", key_type="mark", data_type="verdict", entries=(rest,)), situation(known(b"a")), 1
    )
    assert found.entry is rest


def test_sets_that_are_not_known_whole() -> None:
    for elements in (
        ElementSet(name="s", key_type="mark", partly=True),
        ElementSet(name="s", key_type="mark", flags=("dynamic",)),
        ElementSet(name="s", key_type="mark", elements=(("1", None),)),
    ):
        assert look_up(elements, situation(known(b"abcd")), 1).matches is None
    assert look_up(ElementSet(name="s", key_type="mark"), situation(known(b"abcd")), 1).matches is False
