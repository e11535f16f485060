"""docs/rules and docs/tables.md say what the rules and the schemas say; `make docs` mends them."""

from pathlib import Path

import pytest

from netdiag.rules.all_rules import ALL
from netdiag.rules.rule import Rule
from netdiag.traffic import tables
from netdiag.traffic.tables import NAMES, RAW_NAMES
from tests.each import each
from tests.house.rule_pages import COMMAND, FOLDER, INDEX, found, main, pages, undated
from tests.house.tables_page import PAGE, page
from tests.house.tables_page import main as write_tables
from tests.house.tree import ROOT


@pytest.fixture(scope="module")
def now() -> dict[str, str]:
    """The pages as the rules are."""
    return pages()


def test_the_pages_are_up_to_date(now: dict[str, str]) -> None:
    held = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()}
    assert held.keys() == now.keys(), f"`{COMMAND}` writes the present pages"
    differing = [name for name, text in now.items() if held[name] != text]
    assert differing == [], f"not what the rules say: `{COMMAND}` writes the present pages"


@each("rule", ALL, ids=lambda rule: rule.ID)
def test_a_page_tells_the_repair_and_is_in_the_index(now: dict[str, str], rule: Rule) -> None:
    text = now[f"{rule.ID}.md"]
    for finding in found(rule):
        assert undated(finding.message) in text
        assert finding.hint, "a finding without a hint leaves its reader alone"
    for heading in ("## Bad", "## Good", "## Repair", "## Seen", "## Sources"):
        assert f"\n{heading}\n" in text
    assert f"[{rule.ID}]({rule.ID}.md)" in now[INDEX]


def test_the_command_writes_pages_and_deletes_those_of_rules_that_are_gone(now: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "gone.md").write_text("x")
    main(tmp_path)
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == now


def test_the_command_is_a_target_of_make() -> None:
    assert COMMAND == "make docs"
    assert "\ndocs: .venv/.full\n\t@$(BIN)/python -m tests.house.rule_pages\n" in (ROOT / "Makefile").read_text()


def test_the_page_of_tables_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "`make docs` writes the present page"


def test_every_table_has_its_heading() -> None:
    lines = page().splitlines()
    for name in (
        *NAMES,
        *RAW_NAMES,
        *tables.aggregate_names(),
        *tables.stored_aggregate_names(),
        *tables.chart_names(),
    ):
        assert f"### {name}" in lines


def test_the_command_writes_the_page_of_tables_and_make_runs_it(tmp_path: Path) -> None:
    write_tables(tmp_path / "tables.md")
    assert (tmp_path / "tables.md").read_text(encoding="utf-8") == page()
    assert "\n\t@$(BIN)/python -m tests.house.tables_page\n" in (ROOT / "Makefile").read_text()
