"""Plain scalars as compose types and spells them, and fields that are read by their type."""

import pytest

from netdiag.compose.positions import Source, literal
from netdiag.compose.problems import Problems
from netdiag.compose.values import Entry, FieldReader, Mapping, Scalar, Scope, go_float, is_null, plain_kind, scoped
from tests.compose.test_merge import tree
from tests.each import each

# ruff: noqa: E501


# plain scalar -> kind, spelling
KINDS = {
    "": ("null", ""), "~": ("null", ""), "null": ("null", ""), "NULL": ("null", ""), "nUll": ("str", "nUll"),
    "true": ("bool", "true"), "False": ("bool", "false"), "yes": ("str", "yes"), "on": ("str", "on"), "y": ("str", "y"),
    "0": ("int", "0"), "12": ("int", "12"), "-12": ("int", "-12"), "+12": ("int", "12"), "010": ("int", "8"),
    "0o10": ("int", "8"), "0x1f": ("int", "31"), "0b11": ("int", "3"), "1_000": ("int", "1000"), "08": ("float", "8"),
    "18446744073709551615": ("int", "18446744073709551615"), "18446744073709551616": ("float", "1.8446744073709552e+19"),
    "1.5": ("float", "1.5"), "1.50": ("float", "1.5"), "5.": ("float", "5"), ".5": ("float", "0.5"), "1e3": ("float", "1000"),
    "1e6": ("float", "1e+06"), "-.5e-9": ("float", "-5e-10"), ".inf": ("float", "+Inf"), "-.INF": ("float", "-Inf"),
    ".nan": ("float", "NaN"), "1.2.3": ("str", "1.2.3"), "1:30": ("str", "1:30"), "-": ("str", "-"), "0x": ("str", "0x"),
    "1 2": ("str", "1 2"), "2020-01-02": ("time", "2020-01-02 00:00:00 +0000 UTC"),
    "2020-13-02": ("str", "2020-13-02"), "2020-01-02T03:04:05Z": ("time", "2020-01-02 03:04:05 +0000 UTC"),
    "2020-1-2 3:4:5.60": ("time", "2020-01-02 03:04:05.6 +0000 UTC"), "a": ("str", "a"), "-a": ("str", "-a"),
    "1--2": ("str", "1--2"), "0x-1": ("str", "0x-1"), "\u0661": ("str", "\u0661"),
}  # fmt: skip


@each(("written", "kind"), KINDS.items())
def test_plain_scalars(written: str, kind: tuple[str, str]) -> None:
    assert plain_kind(written) == kind


FLOATS = {
    0.0: "0", 1.0: "1", 100000.0: "100000", 1000000.0: "1e+06", 1234567.5: "1.2345675e+06",
    123456.78: "123456.78", 0.0001: "0.0001", 0.00001: "1e-05", 1e21: "1e+21", -2.5e-7: "-2.5e-07", 0.5: "0.5",
}  # fmt: skip


@pytest.mark.parametrize(("number", "spelling"), FLOATS.items())
def test_floats(number: float, spelling: str) -> None:
    assert go_float(number) == spelling


def test_minus_zero() -> None:
    assert go_float(-0.0) == "-0"


def test_paths_are_seen_from_the_project() -> None:
    inside = Scope(folder="d/e", lookup=lambda name: None)
    assert [inside.path(path) for path in ("x", "./x", "../x", "/x")] == ["d/e/x", "d/e/x", "d/x", "/x"]
    assert Scope(folder="", lookup=lambda name: None).path("./x") == "./x"
    assert scoped(Scalar(kind="str", text=literal("x"), scope=inside)) == "d/e/x"
    assert scoped(Scalar(kind="str", text=literal("x"))) == "x"


def test_entries_span_key_and_value() -> None:
    source = Source("f", "k: v")
    key, value = literal("k", path="f"), Scalar(kind="str", text=literal("v", path="f", column=4, start=3))
    entry = Entry(key=key, value=value)
    assert entry.span == source.span(0, 4)
    assert Mapping(entries={"k": entry}, span=entry.span).get("nope") is None
    assert is_null(Scalar(kind="null", text=literal("")))
    assert not is_null(value)


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
