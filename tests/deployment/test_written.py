"""Values out of several pieces: each character points at, and is edited in, the piece that holds it."""

from netdiag.compose.positions import Text, literal
from netdiag.deployment.sources.compose_text import (
    ComposeValue,
    ScatteredValue,
    comma_list,
    concatenated,
    location,
    substituted,
)
from netdiag.findings import Edit, FileLocation

A = literal("a://h:1", "compose.yml", line=3, column=5, start=40)
B = literal("b://k:22", "compose.yml", line=4, column=7, start=60)


def test_one_text_alone_is_itself() -> None:
    value = comma_list("--kafka-addr", [A])
    assert isinstance(value, ComposeValue)
    assert (value.variable, value.value) == ("--kafka-addr", "a://h:1")
    assert value.at(4, 5) == location(A.span_of(4, 5))


def test_a_list_of_texts_is_one_value() -> None:
    value = comma_list("--kafka-addr", [A, B])
    assert value.value == "a://h:1,b://k:22"
    assert value.at(8, 16) == location(B.span)
    assert value.at(12, 13) == location(B.span_of(4, 5))
    whole = value.at()
    assert isinstance(whole, FileLocation)
    assert (whole.start, whole.end, whole.line, whole.end_line) == (40, 68, 3, 4)


def test_edits_stay_inside_one_piece() -> None:
    value = comma_list("--kafka-addr", [A, B])
    assert value.edit(14, 16, "33") == Edit(path="compose.yml", start=66, end=68, replacement="33")
    assert value.edit(4, 12, "x") is None
    assert value.edit(7, 8, ";") is None  # the comma is nobody's
    assert value.edit(16, 16, "0") == Edit(path="compose.yml", start=68, end=68, replacement="0")


def test_pieces_of_other_files_point_at_the_first() -> None:
    other = literal("c://m:3", "other.yml", line=1, column=1, start=2)
    value = ScatteredValue(variable="v", value="a://h:1,c://m:3", pieces=[(0, A), (8, other)])
    assert value.at().path == "compose.yml"
    assert value.at(8, 9).path == "other.yml"
    assert value.blanks == ()


def test_texts_set_end_to_end() -> None:
    text = concatenated([A, B])
    assert text.value == "a://h:1b://k:22"
    assert text.span_of(0, 7).start == 40
    assert text.span_of(7, 15).start == 60
    span = text.edit_span(13, 15)
    assert span is not None
    assert (span.start, span.end) == (66, 68)
    assert text.edit_span(5, 9) is None


def test_an_expanded_variable_is_shown_where_it_is_used_and_edited_where_it_is_set() -> None:
    place = literal("$L", "compose.yml", line=9, column=3, start=100)
    text = substituted(place, A, "L")
    assert text.value == A.value
    assert text.span_of(4, 5).line == 9
    span = text.edit_span(4, 5)
    assert span is not None
    assert (span.start, span.end) == (44, 45)


def test_an_expanded_variable_of_nowhere_cannot_be_edited() -> None:
    made = Text(value="x", span=A.span)
    assert substituted(B, made, "L").edit_span(0, 1) is None
