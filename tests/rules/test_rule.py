"""What the protocol promises of every rule, held at run time too."""

import pytest

from netdiag.findings import Severity
from netdiag.rules.all_rules import DECLARED
from netdiag.rules.rule import DeclaredRule
from tests.deployment.stacks import deployment_of

NOTHING = deployment_of("name: empty\nservices: {}\n")


@pytest.mark.parametrize("rule", DECLARED, ids=lambda rule: rule.ID)
def test_shape(rule: DeclaredRule) -> None:
    assert isinstance(rule.SEVERITY, Severity)
    assert rule.__doc__
    assert list(rule.check(NOTHING)) == []
