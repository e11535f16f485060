"""Every rule about topologies on real devices: silent on a host in order, told by that rule alone once it is broken."""

from pathlib import Path

import pytest

from netdiag.rules.topology import TOPOLOGY
from tests.live.topology_cases import CASES, TopologyCase
from tests.live.topology_scene import scene


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}-{case.says}".replace(" ", "-"))
def test_a_defect_is_told_by_its_rule_alone(case: TopologyCase, tmp_path: Path) -> None:
    with scene(tmp_path) as made:
        assert made.findings() == ()
        case.cause(made)
        found = made.findings()
    assert {finding.rule for finding in found} == {case.rule}
    assert case.says in found[0].message


def test_every_rule_has_a_defect_that_shows_it() -> None:
    assert {case.rule for case in CASES} == {rule.ID for rule in TOPOLOGY}
