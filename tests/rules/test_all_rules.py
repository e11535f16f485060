"""Every rule: the written-out lists, what the protocol promises, the docstring as a page."""

from pathlib import Path
from types import ModuleType

import pytest

from netdiag.findings import Severity
from netdiag.rules import compose, declared, observed, topology, wire
from netdiag.rules.all_rules import ALL
from netdiag.rules.declared import DECLARED
from netdiag.rules.rule import DeclaredRule, Rule, rule_page
from tests.cli.test_main import loaded
from tests.deployment.stacks import deployment_of
from tests.each import each

KINDS: tuple[tuple[ModuleType, tuple[Rule, ...]], ...] = (
    (compose, compose.COMPOSE),
    (declared, declared.DECLARED),
    (observed, observed.OBSERVED),
    (wire, wire.WIRE),
    (topology, topology.TOPOLOGY),
)


@pytest.mark.parametrize(("folder", "rules"), KINDS)
def test_the_lists_hold_every_rule_file_under_its_name(folder: ModuleType, rules: tuple[Rule, ...]) -> None:
    paths = sorted(Path(folder.__path__[0]).glob("*.py"))
    files = [path.stem.replace("_", "-") for path in paths if path.stem != "__init__"]
    assert [rule.ID.replace(".", "-") for rule in rules] == files


def test_no_id_stands_twice() -> None:
    assert len({rule.ID for rule in ALL}) == len(ALL) == sum(len(rules) for _, rules in KINDS)


@pytest.mark.parametrize(
    ("module", "not_loaded"),
    [
        ("rules.compose", ("rules.declared", "rules.observed", "topology", "traffic")),
        (
            "rules.declared",
            ("rules.observed", "rules.wire", "rules.topology", "topology", "traffic", "deployment.live"),
        ),
        ("rules.topology", ("rules.compose", "rules.declared", "rules.wire", "deployment", "traffic")),
        ("rules.wire", ("rules.compose", "rules.declared", "rules.topology", "deployment", "topology")),
        ("rules.selection", ("rules.all_rules", "compose", "deployment", "topology", "traffic")),
    ],
)
def test_the_rules_of_one_kind_load_nothing_of_another(
    module: str, not_loaded: tuple[str, ...], tmp_path: Path
) -> None:
    modules = loaded("-c", f"import netdiag.{module}", cwd=tmp_path)
    assert f"netdiag.{module}" in modules
    assert not {name for name in modules if name.startswith(tuple(f"netdiag.{each}" for each in not_loaded))}


NOTHING = deployment_of("name: empty\nservices: {}\n")


@each("rule", DECLARED, ids=lambda rule: rule.ID)
def test_shape(rule: DeclaredRule) -> None:
    assert isinstance(rule.SEVERITY, Severity)
    assert rule.__doc__
    assert list(rule.check(NOTHING)) == []


PAGE = """Title of it.

Why: because
it is.

Bad:
    a: 1
    b: 2  # <- here

Good:
    a: 1

Seen: a line

Sources: KIP-103.
"""


def test_sections() -> None:
    page = rule_page(PAGE)
    assert page.title == "Title of it."
    assert page.why == "because\nit is."
    assert page.bad == "a: 1\nb: 2  # <- here\n"
    assert page.bad_lines == (2,)
    assert page.good == "a: 1\n"
    assert (page.seen, page.sources) == ("a line", "KIP-103.")


@pytest.mark.parametrize("section", ["Why", "Bad", "Good", "Seen", "Sources"])
def test_a_page_without_a_section_is_refused(section: str) -> None:
    with pytest.raises(ValueError, match=f"no section {section}"):
        rule_page(PAGE.replace(f"{section}:", "Else:"))
