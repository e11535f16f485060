"""Which characters are a comment, and what it stands at: a table of small files."""

import time

import pytest

from netdiag.compose.positions import Source
from netdiag.compose.yaml_tree import Comment, read_comments
from tests.growth import grows_linearly


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


@pytest.mark.parametrize(("text", "places"), [case[1:] for case in PLACES], ids=[case[0] for case in PLACES])
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
