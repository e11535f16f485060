"""Values behave as Python's own frozen dataclasses do."""

import copy
import dataclasses
import pickle
import re
from collections.abc import Mapping
from typing import Any

import pytest

from netdiag.patterns import regex
from netdiag.values import dataclass
from tests.house.tree import PACKAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A value with a default of each kind."""

    x: int
    name: str = "origin"
    notes: Mapping[str, int] = dataclasses.field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked(Point):
    """One that inherits."""

    colour: str = "red"
    seen: object = dataclasses.field(default=None, compare=False)

    @property
    def bright(self) -> bool:
        return self.colour == "red"


@dataclass(frozen=True, slots=True, kw_only=True)
class Nothing:
    """One without fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hashable:
    """One of which two may be the same."""

    a: int
    b: tuple[int, ...] = ()


def test_fields_defaults_and_texts() -> None:
    assert repr(Point(x=1)) == "Point(x=1, name='origin')"
    assert repr(Marked(x=1, seen=2)) == "Marked(x=1, name='origin', colour='red', seen=2)"
    assert (repr(Nothing()), Marked(x=1).bright) == ("Nothing()", True)
    assert [field.name for field in dataclasses.fields(Marked)] == ["x", "name", "notes", "colour", "seen"]
    assert Point(x=1).notes is not Point(x=1).notes
    assert dataclasses.asdict(Point(x=1)) == {"x": 1, "name": "origin", "notes": {}}
    assert not hasattr(Point(x=1), "__dict__")


def test_equal_when_of_one_class_and_of_equal_fields() -> None:
    assert Point(x=1) == Point(x=1) != Point(x=2)
    assert Marked(x=1, seen=1) == Marked(x=1, seen=2)
    assert Marked(x=1) != Point(x=1)
    assert Nothing() == Nothing()
    assert hash(Hashable(a=1, b=(2,))) == hash(Hashable(a=1, b=(2,)))
    assert len({Hashable(a=1), Hashable(a=1), Hashable(a=2)}) == 2


def test_replaced_copied_and_pickled() -> None:
    value = Marked(x=1, notes={"a": 1})
    assert dataclasses.replace(value, x=2) == Marked(x=2, notes={"a": 1})
    assert copy.deepcopy(value) == pickle.loads(pickle.dumps(value)) == value


@pytest.mark.parametrize("words", [{}, {"x": 1, "z": 2}])
def test_wrong_words_are_refused(words: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=r"Point.__init__\(\)"):
        Point(**words)


def test_frozen() -> None:
    value: Any = Point(x=1)
    for name in ("x", "new"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, name, 2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        del value.x
    with pytest.raises(TypeError):
        value.__class__(1)


def test_the_package_uses_them_for_all_values_of_this_kind() -> None:
    kind = "@dataclass(frozen=True, slots=True, kw_only=True)"
    texts = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    wrong = {path for path, text in texts.items() if f"\n{kind}\n" in text and "netdiag.values import" not in text}
    assert wrong == set()


def test_a_pattern_is_what_re_makes_of_it() -> None:
    lazy, known = regex(r"(\w+)=(\d+)", re.IGNORECASE), re.compile(r"(\w+)=(\d+)", re.IGNORECASE)
    for text in ("a=1, B=22", "", "x="):
        assert lazy.findall(text) == known.findall(text)
        assert lazy.sub("-", text) == known.sub("-", text)
        assert bool(lazy.match(text)) == bool(known.match(text))
    assert (lazy.pattern, lazy.groups) == (known.pattern, known.groups)


def test_a_pattern_that_cannot_be_compiled_fails_when_used() -> None:
    with pytest.raises(re.error):
        regex("(").match("")
