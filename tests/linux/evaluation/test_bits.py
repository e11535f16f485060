"""Comparing what is known in part."""

import pytest

from netdiag.linux.evaluation.bits import Bits, both, compare, joined, known, masked, negated, unknown, within

HALF = Bits(b"\x10", b"\xf0")


@pytest.mark.parametrize(
    ("operator", "other", "answer"),
    [
        ("==", b"\x15", None),
        ("==", b"\x25", False),
        ("!=", b"\x25", True),
        ("<", b"\x20", True),
        ("<", b"\x10", False),
        ("<", b"\x18", None),
        ("<=", b"\x1f", True),
        ("<=", b"\x0f", False),
        (">", b"\x0f", True),
        (">", b"\x1f", False),
        (">=", b"\x10", True),
        (">=", b"\x11", None),
        ("??", b"\x11", None),
    ],
)
def test_a_number_of_which_half_is_known(operator: str, other: bytes, answer: bool | None) -> None:
    assert compare(HALF, operator, other) is answer


def test_a_mask_makes_known_what_it_takes_away() -> None:
    assert masked(HALF, b"\xf0", b"\0") == known(b"\x10")
    assert masked(unknown(1), b"\0", b"\x07") == known(b"\x07")


def test_three_values() -> None:
    assert within(HALF, b"\x10", b"\x1f") is True
    assert within(HALF, b"\x12", b"\x1f") is None
    assert [both(None, False), both(None, True), both(True, True)] == [False, None, True]
    assert [negated(None, True), negated(True, True), negated(True, False)] == [None, False, True]
    assert joined([known(b"a"), unknown(1)]) == Bits(b"a\0", b"\xff\0")
