"""Unknown fields and values of the wrong kind."""

import pytest

from tests.compose.tracing import cut, project

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
