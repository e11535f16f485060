"""The written-out list: complete, in order, ids as the files are called."""

from pathlib import Path

import netdiag.rules.declared
from netdiag.rules.all_rules import DECLARED


def test_the_list_holds_every_rule_file_under_its_name() -> None:
    folder = Path(netdiag.rules.declared.__path__[0])
    files = sorted(path.stem.replace("_", "-") for path in folder.glob("*.py") if path.stem != "__init__")
    assert [rule.ID for rule in DECLARED] == files
