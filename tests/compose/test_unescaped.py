"""Which variables of a command were meant for the container; the cases are in tests/rules/test_compose.py."""

from netdiag.compose.project import unescaped_variables
from tests.deployment.stacks import project_of


def test_the_expression_is_pointed_at_once_per_text() -> None:
    text = 'services:\n  a:\n    image: x\n    environment: {T: 1}\n    command: ["sh", "-c", "echo $T ${T}", "$T"]\n'
    found = unescaped_variables(project_of(text))
    assert [(u.service.name, u.where, u.variable, u.span.line) for u in found] == [("a", "command", "T", 5)] * 2
    assert [text[u.span.start : u.span.end] for u in found] == ["$T", "$T"]


def test_a_variable_passed_on_without_a_value_is_nobodys() -> None:
    text = "services:\n  a:\n    image: x\n    environment: [T]\n    command: sh -c 'echo $T'\n"
    assert unescaped_variables(project_of(text)) == ()
