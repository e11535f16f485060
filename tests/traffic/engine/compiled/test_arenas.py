"""Texts of a store."""

from netdiag.traffic.engine.compiled.arenas import bytes_of, text_of
from tests.traffic.engine.compiled.exchanges import Texts


def test_texts_are_told_by_their_bounds() -> None:
    texts = Texts.of([b"", "ä".encode(), b"orders"], 3)
    assert [text_of(texts, number) for number in (-1, 0, 1, 2)] == [None, "", "ä", "orders"]
    assert bytes_of(texts, 2) == b"orders"
