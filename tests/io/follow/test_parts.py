"""Parts are whole or not there, and a second try leaves what it has seen."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from netdiag.io.follow.parts import Parts
from netdiag.traffic.arrow import record_batch
from netdiag.traffic.tables import NAMES, table
from tests.native.reading import row_class

ROW = row_class("names")(
    time=1, client="a", server="b", name="n", type="A", result="NOERROR", addresses=("1",), latency_ms=None
)
ROWS = [record_batch(table("names"), [ROW], unit="us")]


def parts(folder: Path, *, empty: bool = False) -> Parts:
    for name in NAMES:
        (folder / name).mkdir(exist_ok=True)
    return Parts(lambda name: folder / name / "part.parquet", empty=empty)


def test_only_tables_with_rows_have_a_file(tmp_path: Path) -> None:
    with parts(tmp_path) as written:
        written.add({"names": ROWS * 2, "losses": []})
        assert list(tmp_path.glob("*/part.parquet")) == []
        written.finish()
    assert [path.parent.name for path in tmp_path.glob("*/*")] == ["names"]
    assert pq.read_table(tmp_path / "names" / "part.parquet").num_rows == 2
    with parts(tmp_path) as written:
        written.finish()
    assert list(tmp_path.glob("*/*")) == []


def test_with_empty_every_table_has_one(tmp_path: Path) -> None:
    with parts(tmp_path, empty=True) as written:
        written.finish()
    assert sorted(path.parent.name for path in tmp_path.glob("*/part.parquet")) == sorted(NAMES)


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyError), parts(tmp_path, empty=True) as written:
        written.add({"names": ROWS, "strange": ROWS})
    assert list(tmp_path.glob("*/*")) == []
