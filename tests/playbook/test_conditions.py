"""Conditions and what they compare."""

import pytest

from netdiag.playbook.document import (
    Condition,
    Either,
    Every,
    Item,
    No,
    Outcome,
    There,
    asked,
    evidence,
    glob,
    is_comparison,
)


def test_looked() -> None:
    assert Outcome().looked
    assert not Outcome(why_not="no engine").looked
    assert Outcome(seconds=1.0) == Outcome(seconds=2.0)


def item(**fields: str) -> Item:
    return Item(of="findings", fields=fields)


SEEN = {
    "one": Outcome(items=(item(rule="a-b", count="3"), item(rule="a-c", count="7"))),
    "two": Outcome(why_not="no engine"),
}


def there(step: str = "", at_least: int = 1, **where: str) -> There:
    return There(step=step, of="findings", where={n: tuple(v.split("|")) for n, v in where.items()}, at_least=at_least)


@pytest.mark.parametrize(
    ("condition", "held"),
    [
        (there(rule="a-b"), ["a-b"]),
        (there(rule="a-*"), ["a-b", "a-c"]),
        (there(rule="x|a-c"), ["a-c"]),
        (there(step="one", rule="a-*", at_least=3), None),
        (there(step="one", count=">=4"), ["a-c"]),
        (there(step="one", count="<3"), None),
        (there(step="two"), None),
        (there(step="never"), None),
        (there(colour="*"), ["a-b", "a-c"]),
        (there(colour="?"), None),
        (Every(parts=(there(rule="a-b"), there(rule="a-*"))), ["a-b", "a-c"]),
        (Every(parts=(there(rule="a-b"), there(rule="x"))), None),
        (Either(parts=(there(rule="x"), there(rule="a-c"))), ["a-c"]),
        (Either(parts=(there(rule="x"), there(rule="y"))), None),
        (No(part=there(step="one", rule="x")), []),
        (No(part=there(step="one", rule="a-b")), None),
        (No(part=there(step="two", rule="x")), None),
        (No(part=there(step="never", rule="x")), None),
    ],
)
def test_what_holds(condition: Condition, held: list[str] | None) -> None:
    found = evidence(condition, SEEN)
    assert (None if found is None else [each.fields["rule"] for each in found]) == held


def test_the_steps_that_are_asked_about() -> None:
    assert asked(Every(parts=(there(step="a"), No(part=Either(parts=(there(step="b"), there(step="a"))))))) == (
        "a",
        "b",
    )


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        ("*", "", True),
        ("", "", True),
        ("", "x", False),
        ("a*c", "abbbc", True),
        ("a*c", "abbbd", False),
        ("ADVERTISED: *", "advertised: refused", True),
        ("a*b*c*", "a.b.c", True),
        ("*a", "ba", True),
        ("a?", "ab", False),
    ],
)
def test_globs(pattern: str, text: str, fits: bool) -> None:
    assert glob(pattern, text) is fits


def test_a_glob_of_stars_takes_no_longer_than_its_product() -> None:
    assert not glob("*a" * 200 + "b", "a" * 4000)


def test_comparisons() -> None:
    assert is_comparison(">=3")
    assert not is_comparison("3")
