"""Reading typed fields: the value, or a problem and nothing."""

from netdiag.compose.problems import Problems
from netdiag.compose.values import FieldReader
from tests.compose.test_merge import tree


def test_fields_of_the_right_type() -> None:
    problems = Problems()
    reading, fields = (
        FieldReader(problems, "unit"),
        tree("s: a\nn: 12\nt: on\nf: 'false'\nl: [a, b, a]\nm: {k: v}\nz: ~\n"),
    )
    assert str(reading.text(fields, "s")) == "a"
    assert str(reading.text(fields, "n")) == "12"
    assert reading.integer(fields, "n") == 12
    assert (reading.boolean(fields, "t"), reading.boolean(fields, "f"), reading.boolean(fields, "no", True)) == (
        True,
        False,
        True,
    )
    assert [text.value for text in reading.texts(fields, "l")] == ["a", "b", "a"]
    assert [text.value for text in reading.unique_texts(fields, "l")] == ["a", "b"]
    assert [text.value for text in reading.texts(fields, "s")] == ["a"]
    assert reading.mapping(fields, "m") is not None
    assert reading.sequence(fields, "l") is not None
    for read in (reading.text, reading.integer, reading.mapping, reading.sequence):
        assert read(fields, "z") is None
        assert read(fields, "absent") is None
    assert [(name, str(text)) for name, _, text, _, _ in reading.pairs(fields, "m")] == [("k", "v")]
    assert not problems.all()


def test_fields_of_the_wrong_type_are_problems() -> None:
    problems = Problems()
    reading, fields = FieldReader(problems, "unit", service="a"), tree("l: [a]\nm: {k: [v]}\ns: word\nn: 1.5\n")
    assert reading.text(fields, "l") is None
    assert reading.integer(fields, "n") is None
    assert reading.boolean(fields, "s") is False
    assert reading.mapping(fields, "s") is None
    assert reading.texts(fields, "m") == ()
    assert list(reading.pairs(fields, "m")) == []
    found = problems.all()
    assert {problem.message for problem in found} >= {
        "unit.l must be a string", "unit.n must be an integer", "unit.s must be true or false",
        "unit.m must be a list", "unit.m.k must be a string, a number or null",
    }  # fmt: skip
    assert {problem.service for problem in found} == {"a"}
