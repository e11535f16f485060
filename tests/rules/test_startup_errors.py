"""From a line of a log back to the rule."""

import pytest

from netdiag.rules.declared import DECLARED
from netdiag.rules.rule import DeclaredRule, rule_page
from netdiag.rules.startup_errors import STARTUP_ERRORS, explain
from tests.deployment.stacks import deployment_of


def _foretold(rule: DeclaredRule) -> list[str]:
    found = rule.check(deployment_of(rule_page(rule.__doc__ or "").bad))
    return [finding.broker_prints for finding in found if finding.broker_prints]


FORETELLING = [rule for rule in DECLARED if _foretold(rule)]


@pytest.mark.parametrize("rule", FORETELLING, ids=lambda rule: rule.ID)
def test_every_sentence_that_a_rule_foretells_leads_back_to_it(rule: DeclaredRule) -> None:
    for sentence in _foretold(rule):
        explained = explain(("[main] started", f"java.lang.IllegalArgumentException: requirement failed: {sentence} x"))
        assert explained is not None, sentence
        assert rule.ID in explained.rules


def test_it_knows_no_rule_that_is_not_there() -> None:
    assert {rule for refusal in STARTUP_ERRORS for rule in refusal.rules} <= {rule.ID for rule in DECLARED}
    assert len(FORETELLING) >= 36


def test_the_variable_that_a_script_names_is_what_is_meant() -> None:
    explained = explain(("KAFKA_SSL_KEYSTORE_FILENAME is required.",))
    assert explained is not None
    assert (explained.setting, explained.rules) == ("KAFKA_SSL_KEYSTORE_FILENAME", ("secrets-by-listener-name",))


def test_what_no_rule_knows_is_not_explained() -> None:
    assert explain(("OutOfMemoryError: Java heap space", "")) is None
