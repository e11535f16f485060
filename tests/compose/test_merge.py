"""Two trees of values become one: by key, by appending, or by the rule of the field."""

import pytest

from netdiag.compose.merge import expand, merge, plain, remove
from netdiag.compose.positions import Source
from netdiag.compose.problems import Problems
from netdiag.compose.values import Mapping, Scope
from netdiag.compose.yaml_tree import load_nodes
from tests.compose.test_expand import words
from tests.compose.tracing import project


def tree(text: str, path: str = "f") -> Mapping:
    source = Source(path, text)
    value = expand(source, load_nodes(source)[0], Scope(folder="", lookup=lambda name: None), Problems()).value
    assert isinstance(value, Mapping)
    return value


# below which path, left, right, merged
MERGED = [
    ("x", "a: 1\nb: 2", "b: 3\nc: 4", {"a": "1", "b": "3", "c": "4"}),
    ("x", "a: {b: 1}", "a: {c: 2}", {"a": {"b": "1", "c": "2"}}),
    ("x", "a: [1]", "a: [2, 1]", {"a": ["1", "2", "1"]}),
    ("x", "a: 1", "a: ~", {"a": "1"}),
    ("x", "a: 1", "a: [2]", {"a": ["2"]}),
    ("services.a", "command: [a]", "command: [b]", {"command": ["b"]}),
    ("services.a", "command: [a]", "command: ", {"command": ""}),
    ("services.a", "environment: {A: 1}", "environment: [B=2]", {"environment": [{"A": "1"}, "B=2"]}),
    ("services.a", "networks: [a]", "networks: {b: {aliases: [c]}}", {"networks": {"a": {}, "b": {"aliases": ["c"]}}}),
    ("services.a", "extra_hosts: ['a:1']", "extra_hosts: ['a:1', 'b:1']", {"extra_hosts": ["a:1", "b:1"]}),
    ("services.a", "healthcheck: {test: [a]}", "healthcheck: {test: [b]}", {"healthcheck": {"test": ["b"]}}),
    ("services.a", "ulimits: {n: {soft: 1}}", "ulimits: {n: 2}", {"ulimits": {"n": "2"}}),
    ("services.a", "build: .", "build: {target: t}", {"build": {"target": "t"}}),
    (
        "networks.n",
        "ipam: {config: [{subnet: a}]}",
        "ipam: {config: [{subnet: a, gateway: g}, {subnet: b}]}",
        {"ipam": {"config": [{"subnet": "a", "gateway": "g"}, {"subnet": "b"}]}},
    ),
]


@pytest.mark.parametrize(("path", "left", "right", "merged"), MERGED)
def test_merged(path: str, left: str, right: str, merged: object) -> None:
    problems = Problems()
    found = merge(tree(left), tree(right), problems, tuple(path.split(".")))
    assert words(plain(found)) == merged
    assert not problems.all()


@pytest.mark.parametrize(("left", "right"), [("a: [1]", "a: {b: 1}"), ("a: {b: 1}", "a: [1]"), ("a: {b: 1}", "a: 1")])
def test_what_cannot_be_merged(left: str, right: str) -> None:
    problems = Problems()
    found = merge(tree(left), tree(right, "g"), problems, ("x",))
    assert plain(found) == plain(tree(left))
    (problem,) = problems.all()
    assert (problem.message, problem.span.path, problem.related[0].path) == ("cannot override x.a", "g", "f")


def test_remove() -> None:
    value = tree("a: {b: 1, c: {d: 2}}\ne: 3")
    assert words(plain(remove(value, ("a", "c", "d")))) == {"a": {"b": "1", "c": {}}, "e": "3"}
    assert words(plain(remove(value, ("a",)))) == {"e": "3"}
    for path in ((), ("z",), ("e", "f"), ("a", "z", "y")):
        assert remove(value, path) == value


def test_values_keep_the_file_they_came_from() -> None:
    merged = merge(tree("a: 1\nb: 2", "left"), tree("b: 3", "right"), Problems(), ("x",))
    assert isinstance(merged, Mapping)
    assert [(key, entry.key.span.path, entry.value.span.path) for key, entry in merged.entries.items()] == [
        ("a", "left", "left"),
        ("b", "right", "right"),
    ]


def test_a_variable_knows_what_it_replaces() -> None:
    loaded = project("services: {a: {image: x, environment: [A=1, A=2, B=1]}}")
    variables = loaded.services["a"].environment
    assert [len(variables[name].shadowed) for name in "AB"] == [1, 0]
    assert variables["A"].shadowed[0].column == 40
