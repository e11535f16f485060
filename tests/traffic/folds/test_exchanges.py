"""Exchanges that a question cannot tell apart."""

from netdiag.traffic.folds.exchanges import FOLDS
from netdiag.traffic.folds.fold import folded
from tests.traffic.folds.anything import anything

ROWS = anything(9, rows=2000)["exchanges"]


def test_no_fold_has_as_many_rows_as_its_table() -> None:
    for name, fold in FOLDS.items():
        assert 0 < folded(fold, ROWS).num_rows < ROWS.num_rows, name


def test_exchanges_without_an_api_have_no_version() -> None:
    rows = folded(FOLDS["api_versions"], ROWS).to_pylist()
    assert None not in {row["api_key"] for row in rows}
    asked = sum(each is not None for each in ROWS["api_key"].to_pylist())
    assert sum(row["times"] for row in rows) == asked
