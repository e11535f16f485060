"""Attributes within their bounds."""

import pytest

from netdiag.linux.nftables.messages import Malformed, attributes, number, table, text, user_data, user_text
from tests.linux.nftables.message_bytes import attribute


def test_one_after_the_other() -> None:
    data = memoryview(attribute(1, b"abc") + attribute(0x8002, b"\0\5"))
    assert [(kind, bytes(value)) for kind, value in attributes(data)] == [(1, b"abc"), (2, b"\0\5")]
    assert number(table(data)[2]) == 5


@pytest.mark.parametrize("data", [b"\xff\0\1\0", b"\0\0\1\0", b"\3\0\1\0abcd"])
def test_a_length_that_cannot_be(data: bytes) -> None:
    with pytest.raises(Malformed):
        table(memoryview(data))


def test_text_and_notes_of_any_bytes() -> None:
    assert text(memoryview(b"a\xff\0b")) == "a\udcff"
    assert (text(None), number(None, 7)) == ("", 7)
    assert user_data(memoryview(b"\0\3ab\0\7\x09x")) == {0: b"ab\0"}
    assert user_text(b"ab\0") == "ab"
