"""Programs out of files are those that are made, whatever lies there."""

import os
from pathlib import Path

import numpy as np
import pytest

from netdiag.io import kept_programs as kept
from netdiag.io.kept_programs import kept_programs
from netdiag.io.kernels import CACHE
from netdiag.traffic.engine.compiled.program import Programs, programs

TABLES = {"exchanges", "losses"}


def same(one: Programs, other: Programs) -> bool:
    return all(
        first.dtype == second.dtype and np.array_equal(first, second) for first, second in zip(one, other, strict=True)
    )


def test_they_are_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {CACHE: str(tmp_path)}
    assert same(kept_programs(TABLES, environment), programs(TABLES))
    (file,) = tmp_path.iterdir()
    monkeypatch.setattr(kept, "programs", None)
    again = kept_programs(TABLES, environment)
    assert same(again, programs(TABLES))
    assert all(array.flags.writeable for array in again)
    assert list(tmp_path.iterdir()) == [file]


def test_other_tables_have_other_programs(tmp_path: Path) -> None:
    environment = {CACHE: str(tmp_path)}
    for tables in (TABLES, {"partitions"}):
        for _ in range(2):
            assert same(kept_programs(tables, environment), programs(tables))
    assert len(list(tmp_path.iterdir())) == 2


def test_a_damaged_file_is_made_anew(tmp_path: Path) -> None:
    environment = {CACHE: str(tmp_path)}
    kept_programs(TABLES, environment)
    (file,) = tmp_path.iterdir()
    good = file.read_bytes()
    for bad in (b"", good[:7], good[:40], good[:-4], good[:100] + b"\xff" + good[101:], good + b"\0" * 4):
        file.write_bytes(bad)
        assert same(kept_programs(TABLES, environment), programs(TABLES))
        assert file.read_bytes() == good


def test_where_nothing_can_be_written_they_are_made_each_time(tmp_path: Path) -> None:
    environment = {CACHE: str(tmp_path / "is-not-there")}
    assert same(kept_programs(TABLES, environment), programs(TABLES))
    assert not os.listdir(tmp_path)
