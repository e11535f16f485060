"""What compose says about a project as a whole; the single cases are in test_load."""

import pytest

from tests.compose.tracing import project

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
