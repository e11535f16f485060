"""Every rule about declarations is proven live, or it is written down why it cannot be."""

from netdiag.rules.declared import DECLARED
from tests.live.proofs import NOT_PRINTED, NOT_PROVEN, PAGE, page, proven


def test_a_rule_has_a_proof_or_a_reason() -> None:
    rules = {rule.ID for rule in DECLARED}
    unexplained = rules - proven() - set(NOT_PRINTED) - set(NOT_PROVEN)
    assert not unexplained, "write a case in tests/live/client_cases.py, or a reason in tests/live/proofs.py"


def test_a_reason_is_of_a_rule_that_has_no_proof() -> None:
    reasons = set(NOT_PRINTED) | set(NOT_PROVEN)
    assert reasons <= {rule.ID for rule in DECLARED}
    assert not reasons & proven()
    assert not set(NOT_PRINTED) & set(NOT_PROVEN)


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "`make docs` writes the present page"
