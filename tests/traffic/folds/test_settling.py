"""Percentiles of settled rows are those of all rows."""

import random
from itertools import groupby

import numpy as np
import pyarrow as pa
import pytest

from netdiag.traffic.folds.fold import TIMES, Fold
from netdiag.traffic.folds.settling import Quantiles, column, settled

PERCENTS = (50, 95, 99)
FOLD = Fold(of="rows", keys=("group", "outcome"), sums=("bytes",), greatest=("value", "other"))


def asked(name: str) -> Quantiles:
    return Quantiles(value=column(name), percents=PERCENTS, groups=(column("group"),))


def by_chance(seed: int, rows: int = 3000) -> pa.Table:
    chance = random.Random(seed)
    values = [None, 0.0, 1.0, *(chance.random() * 10 ** chance.randrange(4) for _ in range(rows // seed))]
    return pa.table(
        {
            "group": pa.array([chance.choice(["one", "two", None]) for _ in range(rows)]),
            "outcome": pa.array([chance.choice(["answered", "unanswered"]) for _ in range(rows)]),
            "value": pa.array([chance.choice(values) for _ in range(rows)], pa.float64()),
            "other": pa.array([chance.choice([None, 1, 2, chance.randrange(500)]) for _ in range(rows)], pa.int32()),
            "bytes": pa.array([chance.choice([None, 7]) for _ in range(rows)], pa.int64()),
            TIMES: pa.array([chance.choice([1, 1, 1, 40]) for _ in range(rows)], pa.int64()),
        }
    )


def percentiles(rows: pa.Table, name: str) -> dict[object, list[float]]:
    """Those of every group, each row as many times as it is there."""
    found: dict[object, list[float]] = {}
    told = sorted(rows.to_pylist(), key=lambda row: str(row["group"]))
    for group, these in groupby(told, lambda row: row["group"]):
        values = [value for row in these if row[name] is not None for value in [row[name]] * row[TIMES]]
        found[group] = [float(np.percentile(values, percent)) for percent in (*PERCENTS, 100)]
    return found


def counts(rows: pa.Table) -> dict[tuple[object, ...], tuple[int, int]]:
    """How many rows and bytes there are of each outcome, of those with a value, with another and with bytes."""
    found: dict[tuple[object, ...], tuple[int, int]] = {}
    for row in rows.to_pylist():
        known = tuple(row[name] is not None for name in ("value", "other", "bytes"))
        key = (row["group"], row["outcome"], *known)
        times, whole = found.get(key, (0, 0))
        found[key] = (times + row[TIMES], whole + (row["bytes"] or 0))
    return found


@pytest.mark.parametrize("seed", [1, 2, 100])
def test_percentiles_and_counts_stay(seed: int) -> None:
    rows = by_chance(seed)
    found = settled([asked("value"), asked("other")])(FOLD, rows)
    assert found.num_rows < rows.num_rows / 3
    assert set(found.schema.names) == {*FOLD.columns, TIMES}
    for name in ("value", "other"):
        assert percentiles(found, name) == percentiles(rows, name), name
    assert counts(found) == counts(rows)


def test_few_rows_are_left_of_many_values() -> None:
    rows = by_chance(1)
    found = settled([asked("value")])(FOLD, rows)
    # Of each group at most seven rows at a place and the greatest, and those between: of two outcomes, with and
    # without bytes, one with a value and one without.
    assert found.num_rows <= 3 * (7 + 4 * 8 + 4)


def test_no_rows_and_no_values() -> None:
    rows = by_chance(1)
    whole = settled([asked("value")])
    assert whole(FOLD, rows.slice(0, 0)).num_rows == 0
    nulls = rows.set_column(rows.schema.get_field_index("value"), "value", pa.nulls(rows.num_rows, pa.float64()))
    assert whole(FOLD, nulls).to_pydict()["value"] == [None] * 12
