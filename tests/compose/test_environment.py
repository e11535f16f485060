"""The variables of a service: forms, precedence, and where each stands."""

from netdiag.compose.dotenv import load_dotenv
from netdiag.compose.load import load
from netdiag.compose.positions import Source
from netdiag.compose.project import EnvironmentVariable
from tests.compose.tracing import cut, project

YAML = """\
services:
  a:
    image: x
    env_file:
      - a.env
      - path: b.env
    environment:
      OWN: 'P://h:1'
      A: over
  b:
    image: x
    environment:
      - OWN=P://h:1   # why
      - "Q=a b"
      - EMPTY=
      - HOME
      - NOPE
"""
FILES = {"a.env": "A=1\nB=1 # no\nC=${OWN}\n", "b.env": "export B='2'\nD=$B$HOME\n"}


def spelled(variables: dict[str, EnvironmentVariable]) -> dict[str, str | None]:
    return {name: None if v.value is None else v.value.value for name, v in variables.items()}


def test_env_files_then_environment() -> None:
    variables = dict(project(YAML, environ={"HOME": "/h"}, files=FILES).services["a"].environment)
    assert spelled(variables) == {"A": "over", "B": "2", "C": "P://h:1", "D": "1/h", "OWN": "P://h:1"}
    assert {name: v.form for name, v in variables.items()} == {
        "A": "map", "B": "env_file", "C": "env_file", "D": "env_file", "OWN": "map",
    }  # fmt: skip
    b = variables["B"]
    assert cut(FILES["b.env"].encode(), b.key_span) == "B"
    assert cut(FILES["b.env"].encode(), b.entry_span) == "B='2'"
    assert b.via is not None
    assert cut(YAML.encode(), b.via) == "b.env"
    assert [cut(FILES["a.env"].encode(), span) for span in b.shadowed] == ["B=1"]
    assert [span.path for span in variables["A"].shadowed] == ["a.env"]


def test_places_of_both_forms() -> None:
    data = YAML.encode()
    loaded = project(YAML, files=FILES)
    own = loaded.services["a"].environment["OWN"]
    assert [cut(data, span) for span in (own.key_span, own.entry_span)] == ["OWN", "OWN: 'P://h:1'"]
    listed = loaded.services["b"].environment
    assert [cut(data, span) for v in (listed["OWN"], listed["Q"]) for span in (v.key_span, v.entry_span)] == [
        "OWN", "OWN=P://h:1", "Q", '"Q=a b"',
    ]  # fmt: skip
    value = listed["OWN"].value
    assert value is not None
    assert cut(data, value.span) == "P://h:1"
    assert cut(data, value.span_of(4, 5)) == "h"
    assert cut(data, value.span_of(6, 7)) == "1"
    empty = listed["EMPTY"].value
    assert empty is not None
    assert empty.value == ""
    place = empty.edit_span(0, 0)
    assert place is not None
    assert data[place.start - 6 : place.start] == b"EMPTY="


def test_bare_names_pass_the_environment_through() -> None:
    listed = project(YAML, environ={"HOME": "/h"}, files=FILES).services["b"].environment
    assert spelled(dict(listed)) == {"OWN": "P://h:1", "Q": "a b", "EMPTY": "", "HOME": "/h", "NOPE": None}
    home = listed["HOME"].value
    assert home is not None
    assert home.segments[0].variable == "HOME"
    assert home.edit_span(0, 2) is None
    dotenv = load_dotenv(Source(".env", "X='a'\n"), {})
    yaml = "services: {a: {image: x, environment: {X: , Y: ~}}}"
    variables = load(Source("f", yaml), dotenv=dotenv).services["a"].environment
    assert spelled(dict(variables)) == {"X": "a", "Y": None}
    assert variables["X"].value is not None
    span = variables["X"].value.edit_span(0, 1)
    assert span is not None
    assert (span.path, span.start) == (".env", 3)


def test_a_bad_env_file_is_a_problem_at_its_line() -> None:
    loaded = project("services: {a: {image: x, env_file: a.env}}", files={"a.env": "A=1\nB='2\n"})
    (problem,) = loaded.errors
    assert (problem.code, problem.span.path, problem.span.line) == ("env-file", "a.env", 2)
    assert problem.related[0].path == "compose.yaml"


def test_numbers_are_spelled_as_compose_spells_them() -> None:
    yaml = "services: {a: {image: x, environment: {A: 1.50, B: 9092, C: true, D: 0x10, E: '1.50'}}}"
    variables = project(yaml).services["a"].environment
    assert spelled(dict(variables)) == {"A": "1.5", "B": "9092", "C": "true", "D": "16", "E": "1.50"}
    assert [v.value is not None and v.value.edit_span(0, 1) is not None for v in variables.values()] == [
        False, True, True, False, True,
    ]  # fmt: skip
