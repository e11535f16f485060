"""Pieces of options."""

from netdiag.linux.xtables.options import integer, listed, negation, option, pair, port_range, quoted


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
