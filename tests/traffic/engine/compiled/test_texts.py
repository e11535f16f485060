"""Texts by number."""

from netdiag.traffic.engine.compiled.texts import Texts


def test_a_text_has_one_number() -> None:
    texts = Texts(("", "a", "a"))
    assert [texts.number(text) for text in ("a", "b", "", "ä", "b")] == [1, 2, 0, 3, 2]
    assert len(texts) == 4
    assert texts.array().to_pylist() == [texts.text(number) for number in range(4)] == ["", "a", "b", "ä"]
    texts.number("c")
    assert texts.array().to_pylist() == ["", "a", "b", "ä", "c"]


def test_fixed_texts_outlive_the_others() -> None:
    texts = Texts(("", "a"), most=3)
    assert not texts.is_full
    assert texts.number("b") == 2
    texts.number("c")
    assert texts.is_full
    texts.clear()
    assert not texts.is_full
    assert (texts.number("a"), texts.number("d")) == (1, 2)
    assert texts.array().to_pylist() == ["", "a", "d"]


def test_many_characters_are_too_many_too() -> None:
    texts = Texts(())
    texts.number("x" * 20_000_000)
    assert texts.is_full
