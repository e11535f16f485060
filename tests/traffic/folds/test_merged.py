"""Folding: rows that are alike become one, and nothing that is asked for is lost."""

import random
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from netdiag.traffic.aggregates.expressions import host
from netdiag.traffic.folds import (
    FIRST,
    GREATEST,
    KEY,
    SUM,
    TIMES,
    UNTIL,
    Quantiles,
    column,
    hosts,
    mapped,
    merged,
    settled,
    with_column,
)
from tests.traffic.folds.random_rows import anything

KINDS = {
    "client_id": KEY,
    "topics": KEY,
    "request_bytes": SUM,
    "records": SUM,
    "latency_ms": GREATEST,
    "time": FIRST,
    "request_packet": FIRST,
    TIMES: SUM,
    UNTIL: GREATEST,
}


def with_roles(rows: pa.Table, kinds: dict[str, str]) -> pa.Table:
    found = rows.select([])
    for name, role in kinds.items():
        found = with_column(found, name, role, rows[name])
    return found


def folded(rows: pa.Table) -> pa.Table:
    """Rows of `exchanges` as the engine gives what it has not merged yet."""
    times = pa.array([1] * rows.num_rows, pa.int64())
    return with_roles(rows.append_column(TIMES, times).append_column(UNTIL, rows["time"]), KINDS)


ROWS = anything(3)["exchanges"]


def plain(rows: pa.Table) -> list[dict[str, Any]]:
    return sorted(rows.to_pylist(), key=in_order)


def in_order(row: dict[str, Any]) -> str:
    return repr(sorted(row.items()))


def by_hand(rows: pa.Table) -> list[dict[str, Any]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows.to_pylist():
        key = repr((row["client_id"], row["topics"], row["request_bytes"] is None, row["records"] is None))
        groups.setdefault(key, []).append(row)
    made = []
    for group in groups.values():
        first = min(group, key=lambda row: (row["time"], row["request_packet"]))
        took = [row["latency_ms"] for row in group if row["latency_ms"] is not None]
        made.append(
            {
                **{name: group[0][name] for name in ("client_id", "topics")},
                **{name: first[name] for name in ("time", "request_packet")},
                **{
                    name: None if first[name] is None else sum(row[name] for row in group)
                    for name in ("request_bytes", "records")
                },
                "times": len(group),
                "latency_ms": max(took, default=None),
                "until": max(row["time"] for row in group),
            }
        )
    return sorted(made, key=in_order)


def test_what_is_alike_is_one() -> None:
    assert plain(merged(folded(ROWS))) == by_hand(ROWS)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_pieces_are_what_the_whole_is(size: int) -> None:
    pieces = [merged(folded(ROWS.slice(begin, size))) for begin in range(0, ROWS.num_rows, size)]
    assert plain(merged(pa.concat_tables(pieces))) == by_hand(ROWS)


def test_no_rows_and_a_choice_of_rows_stay_what_they_are() -> None:
    assert merged(folded(ROWS.slice(0, 0))).num_rows == 0
    apart = with_roles(ROWS, {"client_id": KEY})
    assert merged(apart) is apart


def test_lists_are_told_apart() -> None:
    lists = [["a", "b"], ["a,b"], ["a,1:b"], ["ab"], [""], [], None, ["a"], ["a", ""], ["a", "b"]]
    rows = pa.table({"topics": pa.array(lists, pa.list_(pa.string())), TIMES: pa.array([1] * len(lists), pa.int64())})
    found = merged(with_roles(rows, {"topics": KEY, TIMES: SUM}))
    times = {repr(row["topics"]): row["times"] for row in found.to_pylist()}
    assert times == {repr(one): lists.count(one) for one in lists}


def test_the_port_of_a_host_is_0(spark: SparkSession) -> None:
    given = ["10.0.0.1:4000", "[fd00::1]:77", "fd00::1", "", None, "10.0.0.1:4000"]
    rows = pa.table({"client": pa.array(given, pa.string())})
    made = hosts("client")(rows)
    assert made.to_pylist()[:3] == ["10.0.0.1:0", "[fd00::1]:0", "fd00::0"]
    before, after = (
        [row[0] for row in spark.createDataFrame(each).select(host("client")).collect()]
        for each in (rows.slice(0, 2), pa.table({"client": made}).slice(0, 2))
    )
    assert before == after == ["10.0.0.1", "fd00::1"]


def test_texts_are_mapped_once() -> None:
    asked = []

    def shout(text: str) -> str | None:
        asked.append(text)
        return text.upper() if text else None

    column = pa.chunked_array([pa.array(["a", None, "a", ""])])
    assert mapped(column, shout).to_pylist() == ["A", None, "A", None]
    assert asked == ["a", ""]


PERCENTS = (50, 95, 99)
TIMES_TAKEN = {"group": KEY, "outcome": KEY, "value": GREATEST, "other": GREATEST, "bytes": SUM, TIMES: SUM}


def asked(name: str) -> Quantiles:
    return Quantiles(value=column(name), percents=PERCENTS, groups=(column("group"),))


def by_chance(seed: int, rows: int = 3000) -> pa.Table:
    chance = random.Random(seed)
    values = [None, 0.0, 1.0, *(chance.random() * 10 ** chance.randrange(4) for _ in range(rows // seed))]
    rows_by_chance = pa.table(
        {
            "group": pa.array([chance.choice(["one", "two", None]) for _ in range(rows)]),
            "outcome": pa.array([chance.choice(["answered", "unanswered"]) for _ in range(rows)]),
            "value": pa.array([chance.choice(values) for _ in range(rows)], pa.float64()),
            "other": pa.array([chance.choice([None, 1, 2, chance.randrange(500)]) for _ in range(rows)], pa.int32()),
            "bytes": pa.array([chance.choice([None, 7]) for _ in range(rows)], pa.int64()),
            TIMES: pa.array([chance.choice([1, 1, 1, 40]) for _ in range(rows)], pa.int64()),
        }
    )
    return with_roles(rows_by_chance, TIMES_TAKEN)


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
    found = settled([asked("value"), asked("other")])(rows)
    assert found.num_rows < rows.num_rows / 3
    assert set(found.schema.names) == set(TIMES_TAKEN)
    for name in ("value", "other"):
        assert percentiles(found, name) == percentiles(rows, name), name
    assert counts(found) == counts(rows)


def test_few_rows_are_left_of_many_values() -> None:
    rows = by_chance(1)
    found = settled([asked("value")])(rows)
    # Of each group at most seven rows at a place and the greatest, and those between: of two outcomes, with and
    # without bytes, one with a value and one without.
    assert found.num_rows <= 3 * (7 + 4 * 8 + 4)


def test_no_rows_and_no_values() -> None:
    rows = by_chance(1)
    whole = settled([asked("value")])
    assert whole(rows.slice(0, 0)).num_rows == 0
    place = rows.schema.get_field_index("value")
    nulls = rows.set_column(place, rows.schema.field(place), pa.nulls(rows.num_rows, pa.float64()))
    assert whole(nulls).to_pydict()["value"] == [None] * 12
