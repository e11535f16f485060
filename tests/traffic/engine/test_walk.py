"""A walk knows what is there, what was cut off, and what never was."""

import pytest

from netdiag.traffic.engine.packet import Packet
from netdiag.traffic.engine.walk import GRE, VLAN, Walk


@pytest.mark.parametrize(
    ("kept", "length", "end", "kind"), [(10, 100, 100, "truncated"), (10, 10, 10, "damage"), (10, 100, 5, "damage")]
)
def test_a_short_header_was_cut_off_or_never_whole(kept: int, length: int, end: int, kind: str) -> None:
    walk = Walk(Packet(0, 1, "", memoryview(bytes(kept)), length, 1, 0))
    walk.end = end
    assert walk.has(5)
    assert not walk.has(11)
    assert walk.short("X header") == (kind, "X header", kept)


def test_the_context_seen_inside_is_the_end_of_that_seen_outside() -> None:
    walk = Walk(Packet(0, 1, "", memoryview(b""), 0, 1, 0))
    walk.pass_through(VLAN, 7)
    walk.pass_through(GRE, 0xFFFFFFFF)
    assert walk.context == b"v\0\0\0\x07g\xff\xff\xff\xff"
