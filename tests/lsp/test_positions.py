"""Lines and columns of the protocol, held against a count made character by character."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netdiag.lsp.positions import Positions

TEXTS = st.text(alphabet="a:é€\U0001f427\r\n\u2028\x0b", max_size=40)
UNITS = {"utf-8": lambda c: len(c.encode()), "utf-16": lambda c: len(c.encode("utf-16-le")) // 2, "utf-32": len}


def expected(text: str, index: int, encoding: str) -> tuple[int, int]:
    """The position of the character at an index, told by walking there."""
    line = column = 0
    for at, character in enumerate(text[:index]):
        if character == "\n" or (character == "\r" and text[at + 1 : at + 2] != "\n"):
            line, column = line + 1, 0
        else:
            column += UNITS[encoding](character)
    return line, column


@pytest.mark.parametrize("encoding", UNITS)
@given(text=TEXTS, data=st.data())
def test_positions_are_those_of_a_walk_through_the_text(encoding: str, text: str, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(text)))
    lines = Positions(text.encode(), encoding)
    offset = len(text[:index].encode())
    assert lines.position(offset) == expected(text, index, encoding)
    if text[index - 1 : index + 1] != "\r\n" or index == 0:
        assert lines.offset(*lines.position(offset)) == offset


def test_a_byte_order_mark_takes_no_column() -> None:
    lines = Positions("\ufeffname: é".encode(), "utf-16")
    assert lines.position(3) == lines.position(0) == (0, 0)
    assert lines.offset(0, 4) == 7


@pytest.mark.parametrize("encoding", UNITS)
def test_places_outside_of_the_text_are_its_ends(encoding: str) -> None:
    lines = Positions(b"ab\ncd\n", encoding)
    assert (lines.offset(0, 99), lines.offset(1, 2), lines.offset(9, 0), lines.offset(-1, 0)) == (2, 5, 6, 0)
    assert (lines.position(-5), lines.position(99)) == ((0, 0), (2, 0))
