"""docs/tables.md says what the schemas say; `make docs` mends it."""

from pathlib import Path

from netdiag.traffic import tables
from netdiag.traffic.tables import NAMES, RAW_NAMES
from tests.house.tables_page import PAGE, main, page
from tests.house.tree import ROOT


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "`make docs` writes the present page"


def test_every_table_has_its_heading() -> None:
    lines = page().splitlines()
    for name in (*NAMES, *RAW_NAMES, *tables.aggregate_names(), *tables.chart_names()):
        assert f"### {name}" in lines


def test_the_command_writes_the_page_and_make_runs_it(tmp_path: Path) -> None:
    main(tmp_path / "tables.md")
    assert (tmp_path / "tables.md").read_text(encoding="utf-8") == page()
    assert "\n\t@$(BIN)/python -m tests.house.tables_page\n" in (ROOT / "Makefile").read_text()
