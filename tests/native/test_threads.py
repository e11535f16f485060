"""However many threads read captures, the rows are the same, and in the same order."""

from functools import partial
from importlib import import_module
from pathlib import Path

import pytest

from netdiag.traffic.native import MODULE
from netdiag.traffic.tables import NAMES
from tests.bench.making import make
from tests.goldens.record import of_seed, recorded
from tests.goldens.rows_of import summary
from tests.native.reading import Rows, rows_of_files

DAMAGED = (30, 310, 620, 930)


def _rows(*files: Path, threads: int) -> Rows:
    with pytest.MonkeyPatch.context() as patched:
        _in_threads(threads, patched)
        return rows_of_files(*files, tables=frozenset(NAMES))


def _in_threads(threads: int, patched: pytest.MonkeyPatch) -> None:
    module = import_module(MODULE)
    patched.setattr(module, "read", partial(module.read, threads=threads))


def test_threads_give_the_rows_of_one(tmp_path: Path) -> None:
    files = [tmp_path / "one.pcap", tmp_path / "two.pcap"]
    # Large enough for several pieces; both have the same times, so they are read together.
    for file, connections in zip(files, (3, 300), strict=True):
        make(file, 3_000_000, connections=connections)
    alone, together = _rows(files[0], threads=0), _rows(*files, threads=0)
    assert len(alone["exchanges"]) > 1000 < len(together["exchanges"]) - len(alone["exchanges"])
    for threads in (1, 2, 3, 6):
        assert _rows(files[0], threads=threads) == alone
        assert _rows(*files, threads=threads) == together


@pytest.mark.parametrize("threads", [0, 1, 5])
def test_damaged_captures_are_read_alike(threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _in_threads(threads, monkeypatch)
    for seed in DAMAGED:
        assert summary(of_seed(seed, tmp_path)) == recorded()["damaged"][str(seed)]
