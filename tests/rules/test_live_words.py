"""Lists in messages."""

import pytest

from netdiag.rules.live_words import listed


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["a"], "a"),
        (["a", "b"], "a and b"),
        (["a", "b", "a", "c"], "a, b and c"),
        (["a", "b", "c", "d", "e"], "a, b and 3 more"),
    ],
)
def test_a_list_stays_short(names: list[str], text: str) -> None:
    assert listed(names) == text
