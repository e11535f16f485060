"""The list of rules is the list of rules."""

from pathlib import Path

from netdiag.rules.all_rules import ALL
from tests.cli.shell import netdiag


def test_every_rule_has_a_line(tmp_path: Path) -> None:
    done = netdiag("rules", cwd=tmp_path)
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.decode().splitlines()] == [rule.ID for rule in ALL]
