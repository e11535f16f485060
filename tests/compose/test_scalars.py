"""Every style of writing a scalar: the value, and the characters of the file behind each of its own."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netdiag.compose.positions import Source, Text, assemble
from netdiag.compose.yaml_tree import MappingNode, ScalarNode, load_nodes, pieces_of
from tests.compose.tracing import assert_traced, cut

# what stands after `k: `, the value, the number of characters of it that stand verbatim in the file
SCALARS = [
    ("plain", "plain", 5),
    ("two words", "two words", 9),
    ("a\n  b\n\n  c", "a b\nc", 3),
    ("a   \n    b", "a b", 2),
    ("a # comment", "a", 1),
    ("'single'", "single", 6),
    ("'it''s'", "it's", 3),
    ("'a\n  b\n\n  c'", "a b\nc", 3),
    ("' a '", " a ", 3),
    ("''", "", 0),
    ('"double"', "double", 6),
    ('"a\\tb"', "a\tb", 2),
    ('"a\\x41\\u00e9\\U0001F600b"', "aA\u00e9\U0001f600b", 2),
    ('"a\n  b"', "a b", 2),
    ('"a \\\n  b"', "a b", 3),
    ('"a\\\\b"', "a\\b", 2),
    ('"a\\"b"', 'a"b', 2),
    ("|\n  one\n  two\n", "one\ntwo\n", 6),
    ("|\n  one\n    two\n\n  three\n", "one\n  two\n\nthree\n", 13),
    ("|-\n  one\n  two\n", "one\ntwo", 6),
    ("|+\n  one\n", "one\n\n", 3),
    ("|2\n   one\n  two\n", " one\ntwo\n", 7),
    ("|\n\n  one\n", "\none\n", 3),
    (">\n  one\n  two\n\n  three\n", "one two\nthree\n", 11),
    (">-\n  one\n  two\n", "one two", 6),
    (">-\n  one\n    two\n  three\n", "one\n  two\nthree", 13),
    (">\n  a b\n   c\n", "a b\n c\n", 5),
    ("| # comment\n  one\n", "one\n", 3),
    ("&a value", "value", 5),
    ("!!str 12", "12", 2),
    ("&a !!str 'x'", "x", 1),
    ("caf\u00e9 \u4e2d\u6587", "caf\u00e9 \u4e2d\u6587", 7),
    ("'\u00e9''\u00e9'", "\u00e9'\u00e9", 2),
    ("http://a:80/#x", "http://a:80/#x", 14),
]


def read(data: bytes) -> Text:
    source = Source("f", data)
    (document,) = load_nodes(source)
    assert isinstance(document, MappingNode)
    node = document.pairs[0][1]
    assert isinstance(node, ScalarNode)
    pieces = pieces_of(source.text, node.start, node.end, node.style, node.value)
    return assemble(source, pieces, node.start, node.end)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(("written", "value", "verbatim"), SCALARS)
def test_a_scalar(written: str, value: str, verbatim: int, newline: str) -> None:
    data = f"k: {written}\nz: 1\n".replace("\n", newline).encode()
    text = read(data)
    assert text.value == value
    assert_traced(text, {"f": data})
    assert sum(s.value_end - s.value_start for s in text.segments if s.verbatim) == verbatim


def test_the_span_of_a_quoted_scalar_holds_its_quotes() -> None:
    for written in ("'a b'", '"a b"', "a b", "'it''s'"):
        data = f"k: {written}\n".encode()
        assert cut(data, read(data).span) == written


def test_a_word_in_a_folded_block_is_found() -> None:
    data = b"k: >-\n  PLAINTEXT://a:1,\n  EXTERNAL://b:2\n"
    text = read(data)
    start = text.value.index("b:2")
    span = text.edit_span(start, start + 1)
    assert span is not None
    assert (span.line, span.column) == (3, 14)
    assert text.edit_span(start - 12, start) is None


def test_a_form_not_foreseen_is_one_coarse_piece() -> None:
    assert pieces_of("abc", 0, 3, None, "something else") == [("something else", 0, 3)]
    assert pieces_of("|\n a\n", 0, 5, "|", "b\n") == [("b\n", 0, 5)]


WORDS = st.lists(st.text(st.sampled_from("ab:,'\u00e9\"\\${}#"), min_size=1, max_size=5), min_size=1, max_size=4)


@settings(deadline=None)
@given(
    WORDS,
    st.sampled_from(["|", ">", "|-", ">-", "|+", "'", '"']),
    st.lists(st.sampled_from(["\n", "\n\n"]), min_size=3),
)
def test_every_way_of_writing_is_traced(words: list[str], style: str, breaks: list[str]) -> None:
    between = [*breaks, "\n", "\n", "\n"]
    lines = "".join(word + brk.replace("\n", "\n  ") for word, brk in zip(words, between, strict=False))
    match style:
        case "'":
            written = "'" + lines.replace("'", "''").strip() + "'"
        case '"':
            written = '"' + lines.replace("\\", "\\\\").replace('"', '\\"').strip() + '"'
        case _:
            written = f"{style}\n  {lines}\n"
    data = f"k: {written}\nz: 1\n".encode()
    text = read(data)
    assert_traced(text, {"f": data})
    for word in words:
        assert word in text.value
        start = text.value.index(word)
        if "'" not in word and '"' not in word and "\\" not in word:
            span = text.edit_span(start, start + len(word))
            assert span is not None
            assert cut(data, span) == word
