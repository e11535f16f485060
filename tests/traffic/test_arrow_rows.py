"""Rows of record batches are the rows that these were made of."""

import pytest

from netdiag.traffic.arrow import record_batch
from netdiag.traffic.arrow_rows import rows_of
from tests.traffic.engine.compiled.test_arrow_columns import EVERY, ROWS


@pytest.mark.parametrize("rows", [ROWS, ROWS[1:], ROWS[2:3], []])
def test_rows_are_the_same_again(rows: list[tuple[object, ...]]) -> None:
    assert rows_of(record_batch(EVERY, rows)) == rows
    assert rows_of(record_batch(EVERY, rows).slice(1)) == rows[1:]
    assert rows_of(record_batch(EVERY, rows, ())) == [()] * len(rows)
    assert rows_of(record_batch(EVERY, rows, ("sure", "strings"))) == [(row[-1], row[6]) for row in rows]
