"""The YAML tree: what is bounded and refused, where nodes and characters stand, and what is a comment."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netdiag.compose.positions import Source, Text, assemble
from netdiag.compose.problems import ComposeError
from netdiag.compose.yaml_tree import (
    MAX_BYTES,
    MAX_DEPTH,
    AliasNode,
    Comment,
    MappingNode,
    Node,
    ScalarNode,
    SequenceNode,
    load_nodes,
    pieces_of,
    read_comments,
)
from tests.compose.tracing import assert_traced, cut
from tests.each import each
from tests.growth import grows_linearly

TEXT = """\
a: &x [1, {b: c} ]   # comment
d: *x
e:
  - f: "g"

  # trailing comment
h: |
  i

j:
"""


def spelled(node: Node, text: str) -> object:
    """The tree as (kind, source text) pairs."""
    here = text[node.start : node.end]
    match node:
        case ScalarNode() | AliasNode():
            return here
        case SequenceNode():
            return (here, [spelled(item, text) for item in node.items])
        case MappingNode():
            return (here, {spelled(key, text): spelled(value, text) for key, value in node.pairs})


def test_where_nodes_stand() -> None:
    (document,) = load_nodes(Source("f", TEXT))
    found = spelled(document, TEXT)
    assert isinstance(found, tuple)
    assert found[1] == {
        "a": ("&x [1, {b: c} ]", ["1", ("{b: c}", {"b": "c"})]),
        "d": "*x",
        "e": ('- f: "g"', [('f: "g"', {"f": '"g"'})]),
        "h": "|\n  i",
        "j": "",
    }


def test_documents() -> None:
    assert len(load_nodes(Source("f", "a: 1\n---\nb: 2\n...\n"))) == 2
    assert load_nodes(Source("f", "# nothing\n")) == ()
    # As for the parser of Go, an anchor outlives its document.
    assert len(load_nodes(Source("f", "a: &x 1\n---\nb: *x\n"))) == 2
    with pytest.raises(ComposeError, match="unknown anchor 'y'"):
        load_nodes(Source("f", "a: &x 1\n---\nb: *y\n"))
    assert len(load_nodes(Source("f", "%YAML 1.1\n---\na: 1\n"))) == 1
    with pytest.raises(ComposeError, match=r"%YAML 1\.1"):
        load_nodes(Source("f", "%YAML 1.2\n---\na: 1\n"))


def test_depth_is_bounded() -> None:
    def nested(levels: int) -> str:
        return "a: " + "[" * levels + "]" * levels

    assert load_nodes(Source("f", nested(MAX_DEPTH - 1)))
    for text in (nested(MAX_DEPTH), nested(50_000), "".join(f"{' ' * i}a:\n" for i in range(300))):
        with pytest.raises(ComposeError, match="nested deeper"):
            load_nodes(Source("f", text))


def test_size_is_bounded_before_anything_is_read() -> None:
    start = time.process_time()
    with pytest.raises(ComposeError, match="too large"):
        load_nodes(Source("f", b"a: b\n" * (MAX_BYTES // 5 + 1)))
    assert time.process_time() - start < 0.5


HOSTILE = [
    b"a: 'b",
    b'a: "\\q"',
    b"a: !<x",
    b"%YAML 9.9\n---\na: 1",
    b"%TAG ! x\n---\na: 1",
    b"a: &",
    b"a: *",
    b"? ",
    b"a: [b",
    b"a: b: c",
    b"- a\nb: c",
    b"\x00",
    b"a: \x07",
    b"\xff\xfea\x00",
    b"a: \xed\xa0\x80",
    b"a: |9x\n b",
    b"@a: 1",
    b"`a: 1",
    b"\ta: 1",
    b"a: 1\n b: 2",
    b'"' + b"a" * 2000 + b'": 1',
]


@pytest.mark.parametrize("data", HOSTILE)
def test_hostile_text_is_one_clear_error(data: bytes) -> None:
    error = refusal(data)
    if error is not None:
        assert error.span is not None
        assert 0 <= error.span.start <= error.span.end <= len(data)
        assert "\n" not in error.message


def refusal(data: bytes) -> ComposeError | None:
    """Why the text cannot be read, None when it can."""
    try:
        load_nodes(Source("f", data))
    except ComposeError as error:
        return error
    return None


@pytest.mark.parametrize(
    "value",
    ["&a # don't\n  'v'", "&a # c\n  v", '!!str # c\n\n  # d\n  &a # e\n  "v"', "&a !!str v", "!!str v"],
)
def test_comments_behind_an_anchor_or_a_tag_are_no_part_of_a_scalar(value: str) -> None:
    text = f"key: {value}\n"
    (node,) = load_nodes(Source("f", text))
    assert isinstance(node, MappingNode)
    assert text[node.pairs[0][1].start : node.pairs[0][1].end].strip("'\"") == "v"


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


@each("newline", ["\n", "\r\n"])
@each(("written", "value", "verbatim"), SCALARS)
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


def found(text: str) -> list[Comment]:
    return list(read_comments(Source("c.yml", text), "MARK"))


# text, (first line, last line, alone, at the top, service) of each comment
PLACES: list[tuple[str, str, list[tuple[int, int, bool, bool, str | None]]]] = [
    ("behind a value", "a: b  # MARK\nc: d\n", [(1, 1, False, False, None)]),
    ("behind a key", "a:  # MARK\n  b: c\n", [(1, 1, False, False, None)]),
    ("above a key", "x: 1\n# MARK\na:\n  b: c\n  d: e\nf: g\n", [(3, 5, True, False, None)]),
    ("above a key, others between", "x: 1\n# MARK\n\n# other\na: b\nf: g\n", [(5, 5, True, False, None)]),
    ("above a service", "services:\n  # MARK\n  k:\n    a: b\n  l: {}\n", [(3, 4, True, False, "k")]),
    ("at the end of a service", "services:\n  k:\n    a: b\n    # MARK\n  l:\n    c: d\n", [(5, 6, True, False, "l")]),
    ("above a list item", "a:\n  # MARK\n  - b\n  - c\n", [(3, 3, True, False, None)]),
    ("above an item of several lines", "a:\n  # MARK\n  - b: 1\n    c: 2\n  - d\n", [(3, 4, True, False, None)]),
    ("above a list that is not indented", "x: 1\n# MARK\na:\n- b\n- c\nd: e\n", [(3, 5, True, False, None)]),
    ("above a flow list of several lines", "x: 1\n# MARK\na: [b,\n  c]\nd: e\n", [(3, 4, True, False, None)]),
    ("above an alias", "b: &x 1\n# MARK\na: *x\nc: d\n", [(3, 3, True, False, None)]),
    ("at the top", "# MARK\nservices:\n  k: {}\n", [(2, 3, True, True, None)]),
    ("at the top, after a mark", "%YAML 1.1\n---\n# MARK\na: b\n", [(4, 4, True, True, None)]),
    ("at the end", "a: b\n# MARK\n", [(2, 2, True, False, None)]),
    ("opening a block of text", "a: |  # MARK\n  b # MARK\n  c\nd: e\n", [(1, 3, False, False, None)]),
    ("after a block of text", "a: |\n  b\n# MARK\nd: e\n", [(4, 4, True, False, None)]),
    ("in a folded block", "a: >-\n  b # MARK\n", []),
    ("behind a key whose value is below", "a:  # MARK\n  b\nc: d\n", [(1, 2, False, False, None)]),
    ("behind a string of two lines", 'a: "b\n  c" # MARK\nd: e\n', [(1, 2, False, False, None)]),
    ("in a quoted string", "a: \"b # MARK\"\nb: 'c # MARK'\n", []),
    ("in a string of two lines", 'a: "b\n  # MARK\n  c"\n', []),
    ("without a blank before it", "a: b#MARK\nc: 'd'\n", []),
    ("in a flow list", "a: [b, # MARK\n  c]\n", [(1, 1, False, False, None)]),
    ("with carriage returns", "x: 1\r\n# MARK\r\na: b\r\n", [(3, 3, True, False, None)]),
    ("after a byte order mark", "\ufeff# MARK\na: b\n", [(2, 2, True, True, None)]),
    ("beyond ASCII", "ä: ü  # MARK ö\nc: d\n", [(1, 1, False, False, None)]),
    ("in the second document", "a: b\n---\nc: d # MARK\n", [(3, 3, False, False, None)]),
    ("of a file that is not YAML", "a: [b # MARK\n", []),
    ("in a file of comments", "# MARK\n", [(1, 1, True, True, None)]),
]


@each(("text", "places"), [case[1:] for case in PLACES], ids=[case[0] for case in PLACES])
def test_places(text: str, places: list[tuple[int, int, bool, bool, str | None]]) -> None:
    assert [(c.first_line, c.last_line, c.alone, c.at_top, c.service) for c in found(text)] == places


def test_the_span_holds_the_comment() -> None:
    text = "ä: ü\nb: c  # ö MARK\n"
    (comment,) = found(text)
    assert text.encode()[comment.span.start : comment.span.end].decode() == comment.text == "# ö MARK"
    assert (comment.span.line, comment.span.column) == (2, 7)


def test_bytes_that_are_no_text_have_no_comments() -> None:
    assert not read_comments(Source("c.yml", b"a: \xff # MARK\n"), "MARK")


def test_many_comments_are_read_in_little_time() -> None:
    def seconds(count: int) -> float:
        begin = time.process_time()
        assert len(found("a:\n" + "  - 'b\n    c'  # MARK\n" * count)) == count
        return time.process_time() - begin

    assert grows_linearly(seconds, 2000, least=0.01)


def test_a_comment_between_an_anchor_and_its_value_is_one() -> None:
    found = read_comments(Source("f", "key: &a # netdiag: x\n  value # netdiag: y\n"), "netdiag:")
    assert [comment.text for comment in found] == ["# netdiag: x", "# netdiag: y"]
