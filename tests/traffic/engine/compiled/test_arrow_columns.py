"""Records of numbers as columns of Arrow."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from netdiag.traffic.arrow import record_batch
from netdiag.traffic.column import Column, Kind, Table
from netdiag.traffic.engine.compiled.arrow_columns import batch_of, record_type
from netdiag.traffic.engine.compiled.text_columns import taken
from netdiag.traffic.tables import NAMES, table

TEXTS = pa.array(["", "a", "ä"], pa.string())
EVERY = Table(
    name="every",
    doc="A column of every kind, and one that is never null.",
    columns=(
        *(Column(name=kind.value, kind=kind, doc="", required=False) for kind in Kind),
        Column(name="sure", kind=Kind.INT32, doc="", required=True),
    ),
)
ROWS = [
    (True, -3, 4, 1 << 62, 0.5, "ä", ("a", "", "ä"), 1_700_000_000_123_456_789, 1),
    (False, 3, -4, -(1 << 63), -0.0, "", (), -1_999, 2),
    (None,) * 8 + (3,),
    (None, 1, None, 2, None, "a", ("a",), None, 4),
]


def records(rows: Sequence[tuple[Any, ...]]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    made, listed = np.zeros(len(rows), record_type(EVERY)), [7, 7]
    numbers = {text: number for number, text in enumerate(TEXTS.to_pylist())}
    for record, row in zip(made, rows, strict=True):
        for place, (column, value) in enumerate(zip(EVERY.columns, row, strict=True)):
            if column.kind is Kind.STRINGS:
                record[column.name] = len(listed), len(listed) + len(value or ())
                listed += [numbers[text] for text in value or ()]
            elif value is not None:
                record[column.name] = numbers[value] if column.kind is Kind.STRING else value
            if value is not None:
                record["present"] |= 1 << place
    return made, np.array(listed, np.int32)


@pytest.mark.parametrize("unit", ["ns", "us"])
@pytest.mark.parametrize("rows", [ROWS, ROWS[:2], ROWS[2:3], ROWS[3:], []])
@pytest.mark.parametrize("names", [EVERY.names, EVERY.names[::-1], ("sure",)])
def test_a_batch_is_that_of_the_rows(unit: str, rows: list[tuple[Any, ...]], names: tuple[str, ...]) -> None:
    made, listed = records(rows)
    found = batch_of(EVERY, names, made, texts=partial(taken, TEXTS), listed=listed, unit=unit)  # type: ignore[arg-type]
    found.validate(full=True)
    assert found.equals(record_batch(EVERY, rows, names, unit=unit), check_metadata=True)  # type: ignore[arg-type]


def test_a_batch_does_not_change_when_the_rows_are_written_again() -> None:
    made, listed = records(ROWS)
    found = batch_of(EVERY, EVERY.names, made, texts=partial(taken, TEXTS), listed=listed)
    before = found.to_pylist()
    made[:] = np.zeros(1, made.dtype)
    listed[:] = 0
    assert found.to_pylist() == before


def test_rows_without_columns_are_counted() -> None:
    made, listed = records(ROWS)
    assert batch_of(EVERY, (), made, texts=partial(taken, TEXTS), listed=listed).num_rows == len(ROWS)


def test_every_table_has_a_bit_for_every_column() -> None:
    for name in NAMES:
        assert len(table(name).names) <= 64
        assert set(record_type(table(name)).names or ()) == {"present", *table(name).names}
