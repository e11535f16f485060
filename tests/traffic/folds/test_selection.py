"""Which rows count, and what topics are called."""

import pyarrow as pa

from netdiag.traffic.folds import ALL, PIECES, Selection, pieces_of, told_names
from tests.traffic.folds.random_rows import anything

NAMES = {"I": "orders"}
ROWS = pa.table(
    {
        "connection": pa.array([1, 2, 1], pa.int64()),
        "topic": pa.array([None, "plain", None], pa.string()),
        "topic_id": pa.array(["I", None, "J"], pa.string()),
        "topics": pa.array([["I", "plain", "J"], None, []], pa.list_(pa.field("element", pa.string()))),
    }
)


def test_nothing_is_chosen_where_there_is_nothing_to_choose() -> None:
    assert Selection().of(ROWS) is ROWS


def test_relays_are_left_out() -> None:
    found = Selection(relays=frozenset({1, 7}))
    assert found.of(ROWS).to_pylist() == ROWS.slice(1, 1).to_pylist()


def test_topics_are_named() -> None:
    found = Selection(names=NAMES).of(ROWS)
    assert found["topic"].to_pylist() == ["orders", "plain", None]
    assert found["topics"].to_pylist() == [["orders", "plain", "J"], None, []]
    assert found.schema == ROWS.schema


def test_part_of_a_column_is_named_as_well() -> None:
    assert Selection(names=NAMES).of(ROWS.slice(1))["topics"].to_pylist() == [None, []]
    assert Selection(names=NAMES).of(ROWS.slice(0, 0)).num_rows == 0


def test_topics_are_told_by_their_ids() -> None:
    tables = anything(5)
    assert told_names([tables["leaders"], tables["partitions"]]) == {"A" * 22: "orders", "B" * 22: "users"}


def test_what_folds_are_made_of() -> None:
    assert pieces_of({"coverage"}) == ("coverage",)
    assert pieces_of({"stamps"}) == ("offsets", "stamps")
    assert pieces_of({"produced", "stamps"}) == ("offsets", "produced", "stamps", "sequences")
    assert set(pieces_of(ALL)) == set(PIECES)
