"""Pieces of options."""

import pytest

from netdiag.linux.xtables.options import integer, listed, negation, option, pair, port_range, quoted, rate


def test_negation() -> None:
    assert option({"not": ["x"]}, "x", "--x", "1") == "! --x 1"
    assert option({}, "x", "--x", "") == "--x"
    assert negation({"not": True}, "x") == ""


def test_quotation_marks_are_for_what_is_not_plain() -> None:
    assert [quoted(text) for text in ("a-b_1", "a b", "it's", "")] == ["a-b_1", '"a b"', '"it\\\'s"', '""']


def test_ranges() -> None:
    assert [port_range([1, 1]), port_range([1, 2]), port_range(None)] == ["1", "1:2", "None"]
    assert pair([1, 2]) == ("1", "2")
    assert (integer({"a": "x"}, "a"), listed({"a": 1}, "a")) == (0, [])


@pytest.mark.parametrize(
    ("average", "text"),
    [
        (10000, "1/sec"),
        (769, "13/sec"),
        (10169, "59/min"),
        (600000, "1/min"),
        (5142857, "7/hour"),
        (288000000, "3/day"),
    ],
)
def test_rates(average: int, text: str) -> None:
    assert rate(average) == text
