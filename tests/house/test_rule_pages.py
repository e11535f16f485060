"""docs/rules says what the rules say; `make docs` mends it."""

from pathlib import Path

import pytest

from netdiag.rules.all_rules import ALL
from netdiag.rules.rule import Rule
from tests.house.rule_pages import COMMAND, FOLDER, INDEX, found, main, pages
from tests.house.tree import ROOT

NOW = pages()


@pytest.mark.parametrize("name", sorted(NOW))
def test_a_page_is_up_to_date(name: str) -> None:
    path = FOLDER / name
    held = path.read_text(encoding="utf-8") if path.exists() else None
    assert held == NOW[name], f"docs/rules/{name} is not what the rule says: `{COMMAND}` writes the present pages"


def test_there_is_no_page_without_a_rule() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(NOW), f"`{COMMAND}` writes the present pages"


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.ID)
def test_a_page_tells_the_repair_and_is_in_the_index(rule: Rule) -> None:
    text = NOW[f"{rule.ID}.md"]
    for finding in found(rule):
        assert finding.message in text
        assert finding.hint, "a finding without a hint leaves its reader alone"
    for heading in ("## Bad", "## Good", "## Repair", "## Seen", "## Sources"):
        assert f"\n{heading}\n" in text
    assert f"[{rule.ID}]({rule.ID}.md)" in NOW[INDEX]


def test_the_command_writes_pages_and_deletes_those_of_rules_that_are_gone(tmp_path: Path) -> None:
    (tmp_path / "gone.md").write_text("x")
    main(tmp_path)
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == NOW


def test_the_command_is_a_target_of_make() -> None:
    assert COMMAND == "make docs"
    assert "\ndocs: .venv/.full\n\t@$(BIN)/python -m tests.house.rule_pages\n" in (ROOT / "Makefile").read_text()
