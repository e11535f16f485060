"""Texts get numbers, and what is no UTF-8 the number of what Python makes of it."""

import random

import numpy as np

from netdiag.traffic.engine.compiled import strings as texts

ODD = [
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\xe2\x82",
    b"\xf0\x9f\x98",
    b"\xc0\xaf",
    b"a\xff\xfeb",
    b"\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41",
]


def _add(table: texts.Strings, data: bytes) -> int:
    return texts.add(table, np.frombuffer(b"x" + data, np.uint8).copy(), 1, len(data))


def test_equal_texts_have_equal_numbers() -> None:
    table = texts.strings(64, 1024)
    assert [_add(table, each) for each in (b"a", b"", b"bb", b"a", b"")] == [0, 1, 2, 0, 1]
    assert [texts.text(table, number) for number in (0, 1, 2, -1)] == ["a", "", "bb", None]
    assert texts.raw(table, 2) == b"bb"


def test_bytes_that_are_no_text_are_replaced_as_python_replaces_them() -> None:
    dice = random.Random(1)
    alphabet = b"a\x7f\x80\x8f\x90\x9f\xa0\xbf\xc1\xc2\xdf\xe0\xe1\xec\xed\xee\xf0\xf1\xf3\xf4\xf5\xff"
    table = texts.strings(1 << 12, 1 << 20)
    for data in ODD + [bytes(dice.choices(alphabet, k=dice.randrange(9))) for _ in range(3000)]:
        assert texts.text(table, _add(table, data)) == data.decode("utf-8", "replace"), data
        assert texts.is_text(np.frombuffer(data + b"!", np.uint8).copy(), 0, len(data)) == (
            data == data.decode("utf-8", "replace").encode() and data.decode("utf-8", "ignore").encode() == data
        )


def test_a_table_grows_and_is_sorted_out() -> None:
    table = texts.strings(8, 64)
    for number in range(5):
        assert _add(table, b"%d" % number) == number
    assert not texts.has_room(table, 8, 1)
    table = texts.grown(table, 64, 256)
    assert [_add(table, b"%d" % number) for number in range(7)] == list(range(7))
    chosen = texts.selected(table, np.array([1, 5]))
    assert [texts.text(chosen, number) for number in range(2)] == ["1", "5"]
    assert chosen.counts[1] != table.counts[1]


def test_a_full_table_takes_nothing() -> None:
    table = texts.strings(4, 16)
    assert _add(table, b"a" * 20) == -1
    assert _add(table, b"\xff" * 6) == -1
    assert [_add(table, b"%d" % number) for number in range(6)][-1] == -1


def test_topic_ids_are_bytes() -> None:
    table = texts.strings(8, 64)
    assert texts.add_bytes(table, np.full(16, 255, np.uint8), 0, 16) == 0
    assert texts.raw(table, 0) == b"\xff" * 16
