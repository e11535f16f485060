"""The written-out list: complete, in order, ids as the files are called."""

from pathlib import Path

import pytest

import netdiag.rules.compose
import netdiag.rules.declared
import netdiag.rules.observed
import netdiag.rules.topology
import netdiag.rules.wire
from netdiag.rules.all_rules import ALL, COMPOSE, DECLARED, OBSERVED, TOPOLOGY, WIRE
from netdiag.rules.rule import Rule


@pytest.mark.parametrize(
    ("folder", "rules"),
    [
        (netdiag.rules.compose.__path__[0], COMPOSE),
        (netdiag.rules.declared.__path__[0], DECLARED),
        (netdiag.rules.observed.__path__[0], OBSERVED),
        (netdiag.rules.wire.__path__[0], WIRE),
        (netdiag.rules.topology.__path__[0], TOPOLOGY),
    ],
)
def test_the_lists_hold_every_rule_file_under_its_name(folder: str, rules: tuple[Rule, ...]) -> None:
    files = sorted(path.stem.replace("_", "-") for path in Path(folder).glob("*.py") if path.stem != "__init__")
    assert [rule.ID.replace(".", "-") for rule in rules] == files


def test_no_id_stands_twice() -> None:
    families = (COMPOSE, DECLARED, OBSERVED, WIRE, TOPOLOGY)
    assert len({rule.ID for rule in ALL}) == len(ALL) == sum(len(rules) for rules in families)
