"""Exchanges that a question cannot tell apart."""

import pyarrow as pa

from netdiag.traffic.folds.exchanges import FOLDS, VIEWS
from netdiag.traffic.folds.fold import folded
from tests.traffic.folds.anything import anything
from tests.traffic.folds.memory import InMemory

ROWS = anything(9, rows=2000)["exchanges"]
COLUMNS = ["connection", "correlation_id", "response_time", "api_key"]


def test_no_fold_has_as_many_rows_as_its_table() -> None:
    for name, fold in FOLDS.items():
        if not fold.apart:
            assert 0 < folded(fold, ROWS).num_rows < ROWS.num_rows, name


def test_exchanges_without_an_api_have_no_version() -> None:
    rows = folded(FOLDS["api_versions"], ROWS).to_pylist()
    assert None not in {row["api_key"] for row in rows}
    asked = sum(each is not None for each in ROWS["api_key"].to_pylist())
    assert sum(row["times"] for row in rows) == asked


def test_only_exchanges_that_may_have_told_an_address_are_looked_at() -> None:
    tables = anything(9)
    found = pa.concat_tables(VIEWS["tellers"].rows(InMemory(**tables), COLUMNS))
    told = set(tables["endpoints"]["time"].to_pylist())
    wanted = [
        row
        for row in tables["exchanges"].select(COLUMNS).to_pylist()
        if row["api_key"] == 3 or row["response_time"] in told
    ]
    assert 0 < len(wanted) < tables["exchanges"].num_rows
    assert found.select(COLUMNS).to_pylist() == wanted
