"""The YAML tree: what is bounded, what is refused, where nodes stand."""

import time

import pytest

from netdiag.compose.positions import Source
from netdiag.compose.problems import ComposeError
from netdiag.compose.yaml_tree import (
    MAX_BYTES,
    MAX_DEPTH,
    AliasNode,
    MappingNode,
    Node,
    ScalarNode,
    SequenceNode,
    load_nodes,
)

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
