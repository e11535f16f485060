"""Nodes of YAML as what they must be."""

import pytest

from netdiag.compose.positions import Source
from netdiag.compose.yaml_tree import load_nodes
from netdiag.errors import InputError
from netdiag.playbook.fields import LONGEST_TEXT, MOST_ITEMS, Place


def place(text: str) -> Place:
    source = Source("x.yml", text)
    return Place(source, load_nodes(source)[0], "it")


def test_texts() -> None:
    assert place("a\n  b").text() == "a b"
    assert place("|\n  a\n  b\n").literal() == "a\nb"
    for wrong in ("[a]", "''", "a: b", "x" * (LONGEST_TEXT + 1)):
        with pytest.raises(InputError):
            place(wrong).text()


def test_numbers() -> None:
    assert place("7").number(1, 9) == 7
    for wrong in ("0", "10", "-1", "x", "1e1", "٣", "99999999999999999999"):
        with pytest.raises(InputError, match="from 1 to 9"):
            place(wrong).number(1, 9)


def test_lists() -> None:
    assert place("[a, b]").all(Place.text) == ("a", "b")
    assert place("a").all(Place.text) == ("a",)
    with pytest.raises(InputError, match="must be a list"):
        place("a: b").all(Place.text)
    with pytest.raises(InputError, match=f"more than {MOST_ITEMS}"):
        place("[" + "a, " * (MOST_ITEMS + 1) + "]").all(Place.text)


def test_mappings() -> None:
    assert list(place("a: 1\nb: 2").mapping(("a", "b", "c"), ("a",))) == ["a", "b"]
    for wrong, message in [("[a]", "mapping"), ("a: 1\na: 2", "twice"), ("b: 1", "needs 'a'"), ("z: 1", "x.yml:1:1")]:
        with pytest.raises(InputError, match=message):
            place(wrong).mapping(("a", "b"), ("a",))
