"""Every rule has a defect; test_mutants tries them."""

from netdiag.rules.declared import DECLARED
from tests.mutations import redpanda
from tests.mutations.defects import DEFECTS


def test_every_rule_has_a_defect() -> None:
    missing = sorted({rule.ID for rule in DECLARED} - {defect.rule for defect in (*DEFECTS, *redpanda.DEFECTS)})
    assert not missing, f"add a row to tests/mutations/defects.py for: {', '.join(missing)}"
