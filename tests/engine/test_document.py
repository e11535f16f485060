"""Reading documents of uncertain shape."""

from netdiag.engine.container import flag, mapping, number, sequence, text, texts

DOCUMENT = {"a": {"b": "text", "n": 3, "t": True, "l": ["x", 1, None], "none": None}}


def test_what_is_there() -> None:
    assert text(DOCUMENT, "a", "b") == "text"
    assert number(DOCUMENT, "a", "n") == 3
    assert flag(DOCUMENT, "a", "t")
    assert texts(DOCUMENT, "a", "l") == ("x",)
    assert list(mapping(DOCUMENT, "a")) == ["b", "n", "t", "l", "none"]


def test_what_is_not_or_is_something_else() -> None:
    assert text(DOCUMENT, "a", "n") == text(DOCUMENT, "x", "y") == text(None, "a") == ""
    assert number(DOCUMENT, "a", "t") == number(DOCUMENT, "a", "b") == 0
    assert not flag(DOCUMENT, "a", "n")
    assert sequence(DOCUMENT, "a", "b") == ()
    assert mapping(DOCUMENT, "a", "l") == {}
