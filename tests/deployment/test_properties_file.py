"""Properties files as `java.util.Properties` reads them, every value at its place."""

import pytest

from netdiag.compose.positions import Source
from netdiag.deployment.sources.startup import read_properties


def read(text: str) -> dict[str, str]:
    return {name: value.value for name, value in read_properties(Source("server.properties", text)).items()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=b", {"a": "b"}),
        ("a = b \n", {"a": "b"}),
        ("a: b", {"a": "b"}),
        ("a b", {"a": "b"}),
        ("a =: b", {"a": ": b"}),
        ("a", {"a": ""}),
        ("a=", {"a": ""}),
        ("  a=b", {"a": "b"}),
        ("# a=b\n! c=d\n", {}),
        ("a=b # c", {"a": "b # c"}),
        ("a=1\na=2", {"a": "2"}),
        ("a=b,\\\n   c", {"a": "b,c"}),
        ("a=b,\\\r\n\tc\r\nd=e", {"a": "b,c", "d": "e"}),
        ("a=b\\\n# no comment", {"a": "b# no comment"}),
        ("a=b\\\\\nc=d", {"a": "b\\", "c": "d"}),
        ("a\\=b=c", {"a=b": "c"}),
        ("a\\ b=c", {"a b": "c"}),
        ("a=\\u0041\\tb", {"a": "A\tb"}),
        ("a=x=y://z:1", {"a": "x=y://z:1"}),
        ("a=b\\", {"a": "b"}),
        ("\r\n\r\na=b\rc=d", {"a": "b", "c": "d"}),
        ("", {}),
    ],
)
def test_values(text: str, expected: dict[str, str]) -> None:
    assert read(text) == expected


def test_a_value_over_two_lines_points_at_and_is_edited_in_each() -> None:
    text = "# é\nlisteners = A://:1,\\\n  B://:2\n"
    value = read_properties(Source("p", text))["listeners"]
    assert value.value == "A://:1,B://:2"
    first, second = value.span_of(0, 6), value.span_of(7, 13)
    assert (first.line, first.column, second.line, second.column) == (2, 13, 3, 3)
    edit = value.edit_span(12, 13)
    assert edit is not None
    assert text.encode()[edit.start : edit.end] == b"2"
    assert value.edit_span(5, 8) is None


def test_a_long_value_stays_in_few_pieces() -> None:
    value = read_properties(Source("p", "a=" + "é" * 20_000 + "\\:b"))["a"]
    assert value.value == "é" * 20_000 + ":b"
    assert len(value.segments) == 3


def test_an_escaped_character_is_not_edited() -> None:
    value = read_properties(Source("p", "a=b\\:c"))["a"]
    assert value.value == "b:c"
    assert value.edit_span(1, 2) is None
    assert value.edit_span(2, 3) is not None
