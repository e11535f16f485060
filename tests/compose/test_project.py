"""The model's own answers, and variables of a command that were meant for the container."""

import pytest

from netdiag.compose.positions import Source
from netdiag.compose.problems import Problems
from netdiag.compose.project import Project, Service, unescaped_variables
from tests.deployment.stacks import project_of


@pytest.mark.parametrize(
    ("own", "active", "starts"),
    [((), (), True), ((), ("p",), True), (("p",), (), False), (("p", "q"), ("q",), True), (("p",), ("*",), True)],
)
def test_profiles(own: tuple[str, ...], active: tuple[str, ...], starts: bool) -> None:
    span = Source("f", b"a").span(0, 1)
    assert Service(name="a", span=span, profiles=own).active(active) == starts


def test_errors_and_warnings_are_told_apart() -> None:
    span = Source("f", b"a").span(0, 1)
    problems = Problems()
    problems.error("e", "bad", span)
    problems.warning("w", "odd", span)
    project = Project(name=None, path="f", services={}, networks={}, problems=problems.all())
    assert [problem.code for problem in project.errors] == ["e"]
    assert [problem.code for problem in project.warnings] == ["w"]


def test_the_expression_is_pointed_at_once_per_text() -> None:
    text = 'services:\n  a:\n    image: x\n    environment: {T: 1}\n    command: ["sh", "-c", "echo $T ${T}", "$T"]\n'
    found = unescaped_variables(project_of(text))
    assert [(u.service.name, u.where, u.variable, u.span.line) for u in found] == [("a", "command", "T", 5)] * 2
    assert [text[u.span.start : u.span.end] for u in found] == ["$T", "$T"]


def test_a_variable_passed_on_without_a_value_is_nobodys() -> None:
    text = "services:\n  a:\n    image: x\n    environment: [T]\n    command: sh -c 'echo $T'\n"
    assert unescaped_variables(project_of(text)) == ()
