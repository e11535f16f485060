"""The engine says of captures what it said before; a difference that is meant is recorded, see `record`."""

from pathlib import Path

import pytest

from tests.goldens.record import SEEDS, full_rows, in_corpus, in_tree, of_seed, recorded
from tests.goldens.rows_of import rows_of, summary

IN_CI = range(0, len(SEEDS), 10)


@pytest.mark.parametrize("name", in_tree())
def test_rows_of_the_captures_in_the_tree(name: str) -> None:
    lines = rows_of(in_tree()[name])
    for path, text in full_rows(name, lines):
        assert text == path.read_text(encoding="utf-8"), path.name
    assert summary(lines) == recorded()["tree"][name]


def test_rows_of_the_captures_in_the_corpus() -> None:
    found = in_corpus()
    if not found:
        pytest.skip("shared corpus absent: captures that others have published")
    assert {name: summary(rows_of(path)) for name, path in found.items()} == recorded()["corpus"]


@pytest.mark.parametrize("seed", IN_CI)
def test_rows_of_damaged_captures(seed: int, tmp_path: Path) -> None:
    assert summary(of_seed(seed, tmp_path)) == recorded()["damaged"][str(seed)]
