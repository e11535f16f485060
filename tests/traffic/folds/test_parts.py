"""The folds of a part are those of its rows."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from netdiag.traffic.folds.all_folds import ALL, VIEWS
from netdiag.traffic.folds.fold import folded
from netdiag.traffic.folds.parts import Part, fold_part, rows_of, schema_of_folded, told_names
from netdiag.traffic.folds.selection import Selection
from tests.traffic.folds.anything import CONNECTIONS, anything

TABLES = anything(5)


@pytest.fixture
def part(tmp_path: Path) -> Part:
    return part_of(tmp_path, Selection())


def part_of(folder: Path, selection: Selection) -> Part:
    files = {}
    for name, rows in TABLES.items():
        files[name] = folder / f"{name}.parquet"
        pq.write_table(rows, files[name], row_group_size=100)
    return Part(files, selection)


def test_every_fold_of_a_table_is_made(part: Part) -> None:
    found: dict[str, list[pa.Table]] = {}
    fold_part(part, lambda name, rows: found.setdefault(name, []).append(rows))
    for name, fold in ALL.items():
        assert all(rows.cast(schema_of_folded(fold)) for rows in found.get(name, []))
        if fold.of not in VIEWS:
            whole = folded(fold, TABLES[fold.of])
            assert sum(rows.num_rows for rows in found.get(name, [])) == whole.num_rows, name


def test_topics_are_told_by_their_ids(part: Part, tmp_path: Path) -> None:
    assert told_names(part) == {"A" * 22: "orders", "B" * 22: "users"}
    assert told_names(part_of(tmp_path, Selection(relays=frozenset(range(CONNECTIONS))))) == {}


def test_rows_are_those_of_the_selection(tmp_path: Path) -> None:
    relays = frozenset(range(1, CONNECTIONS))
    groups = list(rows_of(part_of(tmp_path, Selection(relays=relays)), "exchanges", ["time"]))
    assert len(groups) == 3
    assert {each for rows in groups for each in rows["connection"].to_pylist()} == {0}
