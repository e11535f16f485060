"""Spans, sources, and texts that are cut and joined without losing their place."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netdiag.compose.positions import Segment, Source, Text, assemble, joined, literal
from netdiag.findings import FileLocation
from tests.compose.tracing import assert_traced, cut

# text, character index -> line, column
PLACES = [
    (b"", 0, (1, 1)),
    (b"abc", 2, (1, 3)),
    (b"a\nbc", 2, (2, 1)),
    (b"a\nbc", 4, (2, 3)),
    (b"a\r\nbc", 4, (2, 2)),
    (b"a\rbc", 3, (2, 2)),
    (b"a\r\r\nb", 4, (3, 1)),
    ("\u00e9\u00e8x".encode(), 2, (1, 3)),
    ("a\n\u4e2dx".encode(), 3, (2, 2)),
    ("\ufeffab".encode(), 1, (1, 2)),
    ("\ufeff\u00e9b".encode(), 1, (1, 2)),
]


@pytest.mark.parametrize(("data", "index", "place"), PLACES)
def test_lines_and_columns(data: bytes, index: int, place: tuple[int, int]) -> None:
    source = Source("f", data)
    assert source.place(source.offset(index)) == place


@settings(deadline=None)
@given(st.text(st.sampled_from("ab\n\r\u00e9\u4e2d\U0001f600"), max_size=30), st.booleans())
def test_characters_bytes_and_columns_agree(text: str, bom: bool) -> None:
    data = ("\ufeff" if bom else "").encode() + text.encode()
    source = Source("f", data)
    assert source.text == text
    normal = text.replace("\r\n", "\0\n").replace("\r", "\n").replace("\0\n", "\r\n")
    for index in range(len(text) + 1):
        offset = source.offset(index)
        assert data[offset:].decode() == text[index:]
        before = normal[:index]
        line, column = source.place(offset)
        if text[index - 1 : index + 1] != "\r\n":
            assert line == before.count("\n") + 1
            assert column == len(before) - (before.rfind("\n") + 1) + 1


def text_of(value: str, *segments: Segment) -> Text:
    source = Source("f", value)
    return Text(value=value, span=source.span(0, len(value)), segments=segments, source=source)


def test_a_text_without_segments_answers_with_its_span() -> None:
    span = FileLocation(path="f", start=3, end=9, line=2, column=1, end_line=3, end_column=2)
    text = Text(value="abc", span=span)
    assert text.span_of(1, 2) == span
    assert text.edit_span(1, 2) is None
    assert str(text) == "abc"
    assert len(text) == 3


def test_literals_count_from_where_they_are_said_to_stand() -> None:
    text = literal("PLAINTEXT://a:1", path="f", line=7, column=5, start=100)
    span = text.edit_span(12, 13)
    assert span is not None
    assert (span.line, span.column, span.start, span.end, span.end_column) == (7, 17, 112, 113, 18)


def test_empty_ranges_are_places_to_insert() -> None:
    text = literal("abc")
    for position in range(4):
        span = text.edit_span(position, position)
        assert span is not None
        assert (span.start, span.end) == (position, position)


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["ab", "\u00e9", "\n"]), st.booleans()), max_size=6), st.data())
def test_slices_are_traced(parts: list[tuple[str, bool]], data: st.DataObject) -> None:
    written = "".join(word if verbatim else "<>" for word, verbatim in parts)
    source = Source("f", written)
    pieces, position = [], 0
    for word, verbatim in parts:
        length = len(word) if verbatim else 2
        pieces.append((word, position, position + length))
        position += length
    text = assemble(source, pieces, 0, len(written))
    assert text.value == "".join(word for word, _ in parts)
    assert_traced(text, {"f": source.data})
    start = data.draw(st.integers(0, len(text.value)))
    end = data.draw(st.integers(start, len(text.value)))
    part = text.slice(start, end)
    assert part.value == text.value[start:end]
    assert_traced(part, {"f": source.data})
    assert part.slice(0, len(part.value)) == part


def test_an_empty_slice_is_a_place_to_insert() -> None:
    text = literal("KEY=", path="f")
    value = text.slice(4, 4)
    span = value.edit_span(0, 0)
    assert span is not None
    assert (span.start, span.end) == (4, 4)


def test_strip_and_split() -> None:
    data = b" a , bc,"
    text = literal(data.decode(), path="f")
    parts = text.split(",")
    assert [part.value for part in parts] == [" a ", " bc", ""]
    assert [cut(data, part.strip().span) for part in parts] == ["a", "bc", ""]
    assert [part.strip().value for part in parts] == ["a", "bc", ""]
    assert text.slice(1, 2).strip() == text.slice(1, 2)


def test_joined_spans() -> None:
    source = Source("f", b"key: value")
    whole = joined(source.span(0, 3), source.span(5, 10))
    assert whole == source.span(0, 10)
    assert joined(source.span(5, 10), source.span(0, 3)) == source.span(5, 10)
    assert joined(source.span(0, 3), Source("g", b"x").span(0, 1)) == source.span(0, 3)


def test_edits_in_several_files_are_no_edit() -> None:
    there = Source("g", b"xy")
    text = text_of(
        "abc",
        Segment(value_start=0, value_end=1, start=0, end=1),
        Segment(
            value_start=1, value_end=3, start=1, end=3, verbatim=False, origin=there.span(0, 2), origin_source=there
        ),
    )
    assert text.edit_span(0, 2) is None
    assert text.edit_span(2, 3) == there.span(1, 2)


@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_long_lines_of_letters_beyond_ascii_are_counted_right(bom: str) -> None:
    text = "aü" * 700 + "\n" + "€x" * 700
    source = Source("f", bom + text)
    for index in (0, 1, 255, 256, 257, 511, 512, 513, 1399, 1400, 1401, 1660, 2000, len(text)):
        offset = source.offset(index)
        assert offset == len((bom + text[:index]).encode())
        assert source.place(offset) == ((1, index + 1) if index <= 1400 else (2, index - 1400))
