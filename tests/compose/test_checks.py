"""What compose says about a project as a whole: unknown fields, circles, secrets and configs."""

import pytest

from netdiag.compose.load import load
from netdiag.compose.positions import Source
from tests.compose.tracing import cut, project

# dependencies of each service -> the circles found
CIRCLES = [
    ({"a": "b", "b": ""}, []),
    ({"a": "b", "b": "a"}, ["a -> b -> a"]),
    ({"a": "a"}, ["a -> a"]),
    ({"a": "b", "b": "c", "c": "b"}, ["b -> c -> b"]),
    ({"a": "b, c", "b": "d", "c": "d", "d": ""}, []),
    ({"a": "b, c", "b": "", "c": "a"}, ["a -> c -> a"]),
]


@pytest.mark.parametrize(("needs", "circles"), CIRCLES)
def test_circles(needs: dict[str, str], circles: list[str]) -> None:
    services = ", ".join(f"{name}: {{image: x, depends_on: [{others}]}}" for name, others in needs.items())
    errors = project(f"services: {{{services}}}").errors
    assert [error.message.removeprefix("dependency cycle: ") for error in errors] == circles


def test_a_long_row_of_services_is_no_recursion() -> None:
    rows = "".join(f"  s{n}: {{image: x, depends_on: [s{n + 1}]}}\n" for n in range(2000))
    assert not project(f"services:\n{rows}  s2000: {{image: x}}\n").errors


def test_many_paths_are_not_walked_one_by_one() -> None:
    rows = "".join(
        f"  s{n}: {{image: x, depends_on: [{', '.join(f's{m}' for m in range(n + 1, 61))}]}}\n" for n in range(60)
    )
    assert not project(f"services:\n{rows}  s60: {{image: x}}\n").errors


def test_the_obsolete_version_is_a_warning() -> None:
    loaded = project("version: '3'\nservices: {a: {image: x}}")
    assert [(problem.code, problem.severity) for problem in loaded.problems] == [("version", "warning")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("services: {a: {image: x, secrets: [s]}}\n", [("undefined-secret", 1, 36)]),
        ("services: {a: {image: x, configs: [{source: c, target: /c}]}}\n", [("undefined-config", 1, 45)]),
        ("services: {a: {image: x, secrets: [s]}}\nsecrets: {s: {file: ./s}}\n", []),
        ("services: {a: {image: x}}\nsecrets: {s: {file: ./s, environment: S}}\n", [("schema", 2, 11)]),
        ("services: {a: {image: x}}\nsecrets: {s: {}}\n", [("schema", 2, 11)]),
        ("services: {a: {image: x}}\nsecrets: {s: {external: true}}\n", []),
        ("services: {a: {image: x}}\nconfigs: {c: {content: a}}\n", []),
        ("services: {a: {image: x, secrets: [~], profiles: [p]}}\n", []),
    ],
)
def test_what_is_said_and_where(text: str, said: list[tuple[str, int, int]]) -> None:
    problems = load(Source("compose.yaml", text), profiles=()).problems
    assert [
        (p.code, p.span.line, p.span.column) for p in problems if "secret" in p.message or "config" in p.message
    ] == said


# fields of the service, the characters of the problem
WRONG = [
    ("imagee: y", "imagee"),
    ("hostname: 12", "12"),
    ("hostname: ", "hostname"),
    ("environment: A=1", "A=1"),
    ("environment: ", "environment"),
    ("ports: {a: b}", "{a: b}"),
    ("ports: [{target: 80, typo: 1}]", "typo"),
    ("networks: {default: {alias: [b]}}", "alias"),
    ("depends_on: {b: {condition: service_started, required: 'no'}}", "'no'"),
    ("healthcheck: {retry: 1}", "retry"),
    ("command: [1]", "1"),
    ("command: {a: b}", "{a: b}"),
    ("environment: {A: 2020-01-02}", "2020-01-02"),
    ("build: [x]", "[x]"),
]


@pytest.mark.parametrize(("fields", "under"), WRONG)
def test_one_problem_at_the_field(fields: str, under: str) -> None:
    yaml = f"services: {{a: {{image: x, {fields}}}, b: {{image: x}}}}"
    errors = project(yaml).errors
    assert [(error.code, cut(yaml.encode(), error.span)) for error in errors] == [("schema", under)]
    assert errors[0].service == "a"


def test_extensions_are_allowed_everywhere() -> None:
    service = "{image: x, x-b: [1], networks: {n: {x-c: 1}}, healthcheck: {x-d: 1}}"
    yaml = f"x-a: 1\nservices: {{a: {service}}}\nnetworks: {{n: {{x-e: 1}}}}"
    assert not project(yaml).problems


def test_a_typo_at_the_top() -> None:
    assert [error.message for error in project("service: {a: {image: x}}").errors] == [
        "additional property service is not allowed"
    ]
