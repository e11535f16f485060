"""Problems are collected once each and told in the order of the files."""

from netdiag.compose.positions import Source
from netdiag.compose.problems import Problems


def test_each_problem_once_and_in_order() -> None:
    first, second = Source("a", b"xy"), Source("b", b"xy")
    problems = Problems()
    problems.warning("w", "later file", second.span(0, 1))
    problems.error("e", "later place", first.span(1, 2), first.span(0, 1), service="s")
    problems.error("e", "first", first.span(0, 1))
    problems.error("e", "first", first.span(0, 1))
    assert [(problem.message, problem.severity) for problem in problems.all()] == [
        ("first", "error"),
        ("later place", "error"),
        ("later file", "warning"),
    ]
    assert problems.all()[1].related == (first.span(0, 1),)
    assert problems.all()[1].service == "s"


def test_a_value_of_the_wrong_kind_is_told_by_the_first_who_meets_it() -> None:
    problems = Problems()
    place = Source("a", b"xy").span(0, 1)
    problems.error("schema", "must be this", place)
    problems.error("schema", "must be that", place)
    assert [problem.message for problem in problems.all()] == ["must be this"]
