"""Severities are ordered, and their words are what users see."""

import pytest

from netdiag.findings import Severity

WORST_FIRST = [Severity.ERROR, Severity.WARNING, Severity.NOTE]


def test_the_words_are_those_of_the_json() -> None:
    assert [severity.value for severity in Severity] == ["error", "warning", "note"]


@pytest.mark.parametrize("one", WORST_FIRST)
@pytest.mark.parametrize("other", WORST_FIRST)
def test_at_least_follows_the_order(one: Severity, other: Severity) -> None:
    assert one.at_least(other) == (WORST_FIRST.index(one) <= WORST_FIRST.index(other))
    assert one.at_least(other) == (one.rank >= other.rank)
