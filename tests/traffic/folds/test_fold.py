"""Rows that are alike become one, whatever the order and the pieces in which they come."""

from collections import Counter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from netdiag.traffic.arrow import schema_of
from netdiag.traffic.folds.fold import Fold, Folding, folded, schema_of_fold
from netdiag.traffic.tables import table
from tests.traffic.folds.anything import anything

ROWS = anything(3)["exchanges"]
FOLD = Fold(
    of="exchanges",
    keys=("client_id", "topics"),
    sums=("request_bytes", "records"),
    greatest=("latency_ms",),
    first=("time", "request_packet"),
)


def plain(rows: pa.Table) -> list[dict[str, Any]]:
    return sorted(rows.to_pylist(), key=repr)


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
    return sorted(made, key=repr)


def test_what_is_alike_is_one() -> None:
    assert plain(folded(FOLD, ROWS)) == by_hand(ROWS)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_pieces_are_what_the_whole_is(size: int) -> None:
    folding = Folding(FOLD)
    for begin in range(0, ROWS.num_rows, size):
        assert folding.add(ROWS.slice(begin, size)) is None
    rest = folding.rest()
    assert rest is not None
    assert plain(rest) == by_hand(ROWS)


def test_too_many_rows_are_given_away() -> None:
    folding, given = Folding(FOLD, most=20), []
    for begin in range(0, ROWS.num_rows, 10):
        full = folding.add(ROWS.slice(begin, 10))
        if full is not None:
            given.append(full)
        assert folding.held <= 20
    assert len(given) > 3
    rest = folding.rest()
    times: Counter[str] = Counter()
    for part in [*given, *([rest] if rest is not None else [])]:
        for row in part.to_pylist():
            times[repr((row["client_id"], row["topics"]))] += row["times"]
    wanted: Counter[str] = Counter()
    for row in by_hand(ROWS):
        wanted[repr((row["client_id"], row["topics"]))] += row["times"]
    assert times == wanted


def test_only_rows_that_meet_the_condition() -> None:
    fold = Fold(of="exchanges", keys=("outcome",), where=lambda rows: pc.equal(rows["outcome"], "unanswered"))
    (row,) = folded(fold, ROWS).to_pylist()
    assert row == {"outcome": "unanswered", "times": ROWS["outcome"].to_pylist().count("unanswered")}
    assert Folding(fold).rest() is None


def test_lists_are_told_apart() -> None:
    lists = [["a", "b"], ["a,1:b"], ["ab"], [""], [], None, ["a"], ["a", ""], ["a", "b"]]
    rows = pa.table({"topics": pa.array(lists, pa.list_(pa.string()))})
    found = folded(Fold(of="exchanges", keys=("topics",)), rows)
    assert found["topics"].to_pylist() == lists[:-1]
    assert found["times"].to_pylist() == [2, *[1] * 7]


def test_the_schema_is_that_of_the_rows() -> None:
    assert schema_of_fold(FOLD, schema_of(table("exchanges"), unit="us")).types == folded(FOLD, ROWS).schema.types
