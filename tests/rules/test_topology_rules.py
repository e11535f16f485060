"""The list of the rules about topologies is found without any other rule."""

from pathlib import Path

from netdiag.rules import all_rules, topology_rules
from tests.cli.test_main import loaded


def test_it_is_the_list_that_all_rules_has() -> None:
    assert all_rules.TOPOLOGY is topology_rules.TOPOLOGY


def test_no_other_rule_is_loaded(tmp_path: Path) -> None:
    """A machine's network is looked at in less time than it takes to load the rules about compose files."""
    modules = loaded("-c", "import netdiag.rules.run_topology", cwd=tmp_path)
    assert not {name for name in modules if name.startswith(("netdiag.rules.declared", "netdiag.deployment", "ruamel"))}
