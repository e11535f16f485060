"""Several files make one project: aliases, merge keys, resets, overrides, extends, include, and where it all stands."""

from collections.abc import Mapping as MappingABC

import pytest

from netdiag.compose.load import load
from netdiag.compose.merge import Expanded, expand, merge, plain, remove
from netdiag.compose.positions import Source
from netdiag.compose.problems import ComposeError, Problems
from netdiag.compose.project import Project
from netdiag.compose.values import Mapping, Scope
from netdiag.compose.yaml_tree import load_nodes
from tests.compose.tracing import assert_traced, cut, project, texts_in


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


def chain(files: MappingABC[str, str], *names: str, environ: MappingABC[str, str] | None = None) -> Project:
    first, *others = (Source(name, files[name]) for name in names or ("compose.yaml",))
    held = {path: text.encode() for path, text in files.items()}
    loaded = load(first, overrides=tuple(others), environ=environ or {}, read=held.get, name="p")
    for text in texts_in(loaded):
        assert_traced(text, held)
    return loaded


def test_each_value_stands_in_the_file_that_gave_it() -> None:
    files = {
        "compose.yaml": "services: {a: {image: x, hostname: h, ports: ['1:1'], environment: {A: 1, B: 2}}}\n",
        "over.yaml": "services: {a: {hostname: i, ports: ['2:2'], environment: [B=3]}}\n",
    }
    service = chain(files, "compose.yaml", "over.yaml").services["a"]
    assert service.image is not None
    assert service.hostname is not None
    assert (service.image.span.path, service.hostname.span.path) == ("compose.yaml", "over.yaml")
    assert [port.text.span.path for port in service.ports] == ["compose.yaml", "over.yaml"]
    variable = service.environment["B"]
    assert (variable.entry_span.path, variable.shadowed[0].path) == ("over.yaml", "compose.yaml")
    assert service.span.path == "compose.yaml"


def test_an_extended_service_of_another_folder() -> None:
    files = {
        "compose.yaml": "services: {a: {extends: {service: b, file: d/o.yaml}}}\n",
        "d/o.yaml": "services: {b: {image: 'x:${T}', env_file: v.env, volumes: ['./h:/t']}}\n",
        "d/v.env": "V=kafka\n",
    }
    service = chain(files, environ={"T": "1"}).services["a"]
    assert service.image is not None
    assert (service.image.value, service.image.span.path) == ("x:1", "d/o.yaml")
    value = service.environment["V"].value
    assert value is not None
    span = value.edit_span(0, 5)
    assert span is not None
    assert (span.path, cut(files["d/v.env"].encode(), span)) == ("d/v.env", "kafka")
    assert service.volumes[0].host_path == "d/h"
    assert service.env_files[0].file == "d/v.env"
    assert service.env_files[0].path.value == "v.env"


def test_an_included_project_has_its_own_folder_and_variables() -> None:
    files = {
        "compose.yaml": "include: [d/o.yaml]\nservices: {a: {image: 'x:${T:-0}', depends_on: [b]}}\n",
        "d/o.yaml": "services: {b: {image: 'x:${T}', environment: [T]}}\nnetworks: {n: }\n",
        "d/.env": "T=9\n",
    }
    loaded = chain(files)
    assert not loaded.errors
    images = {name: str(service.image) for name, service in loaded.services.items()}
    assert images == {"a": "x:0", "b": "x:9"}
    image = loaded.services["b"].image
    assert image is not None
    span = image.edit_span(2, 3)
    assert span is not None
    assert (span.path, span.start) == ("d/.env", 2)
    assert loaded.networks["n"].span.path == "d/o.yaml"
    assert str(loaded.services["b"].environment["T"].value) == "9"


# files beside compose.yaml, compose.yaml, the code and the characters of the problem
REFUSED = [
    ({}, "services: {a: {image: x, extends: b}}", "extends", "b"),
    ({}, "services: {a: {image: x, extends: {service: b, file: o.yaml}}}", "extends", "o.yaml"),
    ({"o.yaml": "services: {}"}, "services: {a: {image: x, extends: {service: b, file: o.yaml}}}", "extends", "b"),
    ({"o.yaml": "x: 1"}, "services: {a: {image: x, extends: {service: b, file: o.yaml}}}", "extends", "o.yaml"),
    ({"o.yaml": "[oops"}, "services: {a: {image: x, extends: {service: b, file: o.yaml}}}", "extends", "o.yaml"),
    ({}, "services: {a: {image: x, extends: {file: o.yaml}}}", "extends", "extends: {file: o.yaml}"),
    ({}, "services: {a: {image: x, extends: a}}", "extends", "extends: a"),
    ({}, "include: [o.yaml]\nservices: {a: {image: x}}", "include", "o.yaml"),
    ({}, "include: [compose.yaml]\nservices: {a: {image: x}}", "include", "compose.yaml"),
    ({}, "include: [{env_file: e}]\nservices: {a: {image: x}}", "include", "{env_file: e}"),
    ({}, "include: o.yaml\nservices: {a: {image: x}}", "include", "o.yaml"),
    ({"o.yaml": "[oops"}, "include: [o.yaml]\nservices: {a: {image: x}}", "include", "o.yaml"),
    ({"o.yaml": "a: 1"}, "include: [{path: o.yaml, env_file: e}]\nservices: {a: {image: x}}", "include", "e"),
    ({"o.yaml": "services: {a: {image: y}}"}, "include: [o.yaml]\nservices: {a: {image: x}}", "include", "a"),
    ({}, "services: {a: {image: x}}\n---\n~\n", "document", "~"),
]


@pytest.mark.parametrize(("files", "yaml", "code", "under"), REFUSED)
def test_what_cannot_be_drawn_in(files: dict[str, str], yaml: str, code: str, under: str) -> None:
    loaded = chain({"compose.yaml": yaml, **files})
    found = [problem for problem in loaded.errors if problem.code == code]
    assert under in [cut(yaml.encode(), problem.span) for problem in found]
    assert str(loaded.services["a"].image) == "x"


def test_circles_through_files_end() -> None:
    files = {
        "compose.yaml": "include: [o.yaml]\nservices: {a: {image: x, extends: {service: b, file: o.yaml}}}\n",
        "o.yaml": "include: [o.yaml]\nservices: {b: {image: x, extends: {service: a, file: compose.yaml}}}\n",
    }
    assert {problem.code for problem in chain(files).errors} >= {"extends", "include"}


def test_many_files_are_bounded() -> None:
    files = {
        f"f{n}.yaml": f"include: [f{n + 1}.yaml, f{n + 1}.yaml]\nservices: {{s{n}: {{image: x}}}}\n" for n in range(30)
    }
    loaded = chain({**files, "compose.yaml": "include: [f0.yaml]\nservices: {a: {image: x}}\n"})
    assert any("more than 200 files" in problem.message for problem in loaded.errors)


def test_resets_work_on_earlier_files_and_on_what_is_extended() -> None:
    files = {
        "compose.yaml": "services: {a: {image: x, ports: ['1:1']}, b: {extends: a, ports: !override ['2:2']}}\n",
        "over.yaml": "services: {a: {ports: !reset []}}\n",
    }
    services = chain(files, "compose.yaml", "over.yaml").services
    assert [port.target for port in services["b"].ports] == [2]
    assert services["a"].ports == ()


@pytest.mark.slow
def test_files_that_multiply_are_bounded() -> None:
    big = "x-a: |\n" + "  word\n" * 30_000
    files = {f"f{n}.yaml": big + f"services: {{s{n}: {{image: x}}}}\n" for n in range(40)}
    loaded = chain({**files, "compose.yaml": f"include: [{', '.join(files)}]\nservices: {{a: {{image: x}}}}\n"})
    assert any("excessive size" in problem.message for problem in loaded.errors)


# compose.yaml, other files
MULTIPLYING = [
    (
        "services:\n"
        + "".join(f"  s{n}: {{extends: s{n + 1}}}\n" for n in range(200))
        + f"  s200: {{image: x, environment: {{{', '.join(f'V{n}: 1' for n in range(1000))}}}}}\n",
        {},
    ),
    ("services:\n" + "".join(f"  s{n}: {{image: x, ports: ['1-65535:1-65535']}}\n" for n in range(9)), {}),
    (
        "services:\n" + "".join(f"  s{n}: {{image: x, env_file: v.env}}\n" for n in range(100)),
        {"v.env": "# only a comment\n" * 5000},
    ),
]


@pytest.mark.parametrize(("yaml", "files"), MULTIPLYING, ids=["extends", "ports", "env_file"])
def test_what_multiplies_is_bounded(yaml: str, files: dict[str, str]) -> None:
    held = {path: text.encode() for path, text in files.items()}
    with pytest.raises(ComposeError, match="excessive size"):
        load(Source("compose.yaml", yaml), read=held.get, name="p")
