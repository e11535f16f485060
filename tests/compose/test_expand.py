"""Aliases, merge keys, resets and bombs."""

import pytest

from netdiag.compose.merge import Expanded, expand, plain
from netdiag.compose.positions import Source
from netdiag.compose.problems import ComposeError, Problems
from netdiag.compose.values import Mapping, Scope
from netdiag.compose.yaml_tree import load_nodes


def expanded(text: str, problems: Problems | None = None) -> Expanded:
    source = Source("f", text)
    (document,) = load_nodes(source)
    return expand(source, document, Scope(folder="", lookup={"V": "v"}.get), problems or Problems())


def words(value: object) -> object:
    """A plain value without the kinds of its scalars."""
    if isinstance(value, dict):
        return {key: words(held) for key, held in value.items()}
    if isinstance(value, list):
        return [words(held) for held in value]
    return value[1] if isinstance(value, tuple) else value


# text -> value
VALUES: dict[str, object] = {
    "a: &x {b: 1}\nc: *x": {"a": {"b": "1"}, "c": {"b": "1"}},
    "a: &x {b: 1}\nc: {<<: *x, d: 2}": {"a": {"b": "1"}, "c": {"d": "2", "b": "1"}},
    "a: &x {b: 1}\nc: {<<: *x, b: 2}": {"a": {"b": "1"}, "c": {"b": "2"}},
    "a: &x {b: 1}\ne: &y {b: 3, f: 4}\nc: {<<: [*x, *y]}": {
        "a": {"b": "1"}, "e": {"b": "3", "f": "4"}, "c": {"b": "1", "f": "4"},
    },
    "c: {<<: {b: 1}}": {"c": {"b": "1"}},
    "c: {'<<': {b: 1}}": {"c": {"<<": {"b": "1"}}},
    "a: &x b\n*x : c": {"a": "b", "b": "c"},
    "1: a\ntrue: b\n~: c": {"1": "a", "true": "b", "": "c"},
    "a: [1, !reset 2, 3]": {"a": ["1", "3"]},
    "a: !reset {b: 1}\nc: !override [1]": {"c": ["1"]},
    "a: $V\n$V: b": {"a": "v", "$V": "b"},
    "a: &x [$V]\nb: [*x, *x]": {"a": ["v"], "b": [["v"], ["v"]]},
}  # fmt: skip


@pytest.mark.parametrize(("text", "value"), VALUES.items())
def test_values(text: str, value: object) -> None:
    found = expanded(text).value
    assert found is not None
    assert words(plain(found)) == value


def test_resets_and_overrides_leave_their_paths() -> None:
    found = expanded("a: {b: !reset 1, c: !override [2]}\nd: !reset null")
    assert found.resets == (("a", "b"), ("d",))
    assert found.overrides == (("a", "c"),)
    merged = expanded("x: &x {b: !override [1], c: !reset null}\na: {<<: *x}")
    assert merged.overrides == (("x", "b"), ("a", "b"))
    assert merged.resets == (("x", "c"),)


def test_merged_entries_remember_the_merge_key() -> None:
    found = expanded("a: &x {b: 1}\nc: {<<: *x, d: 2}\ne: *x").value
    assert isinstance(found, Mapping)
    inner = found.get("c")
    assert isinstance(inner, Mapping)
    via = inner.entries["b"].via
    assert via is not None
    assert (via.line, via.column) == (2, 9)
    assert inner.entries["d"].via is None
    assert found.entries["e"].via is not None


def test_bombs_are_refused_by_their_size() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 40)]
    with pytest.raises(ComposeError, match="excessive size"):
        expanded("\n".join(lines))
    deep = ["a0: &a0 " + "[" * 60 + "]" * 60, "a1: &a1 " + "[" * 60 + "*a0" + "]" * 60]
    with pytest.raises(ComposeError, match="excessive depth"):
        expanded("\n".join(deep))


def test_a_problem_in_an_anchor_is_told_once() -> None:
    problems = Problems()
    expanded("a: &x {b: 1, b: 2, c: $NOPE}\nd: [*x, *x, {<<: *x}]", problems)
    assert sorted(problem.code for problem in problems.all()) == ["duplicate-key", "unset-variable"]
