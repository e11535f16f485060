"""Which rows of a part count, and its folds."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from netdiag.traffic.folds.all_folds import ALL, VIEWS
from netdiag.traffic.folds.fold import folded
from netdiag.traffic.folds.parts import Part, Selection, fold_part, rows_of, schema_of_folded, told_names, waiting
from tests.traffic.folds.anything import CONNECTIONS, anything

TABLES = anything(5)


@pytest.fixture
def part(tmp_path: Path) -> Part:
    return part_of(tmp_path, Selection())


def part_of(folder: Path, selection: Selection) -> Part:
    files = {}
    for name, rows in TABLES.items():
        files[name] = folder / f"{name}.parquet"
        pq.write_table(rows, files[name], row_group_size=100)
    return Part(files, selection)


def test_every_fold_of_a_table_is_made(part: Part) -> None:
    found: dict[str, list[pa.Table]] = {}
    fold_part(part, lambda name, rows: found.setdefault(name, []).append(rows))
    for name, fold in ALL.items():
        assert all(rows.cast(schema_of_folded(fold)) for rows in found.get(name, []))
        if fold.of not in VIEWS:
            whole = folded(fold, TABLES[fold.of])
            assert sum(rows.num_rows for rows in found.get(name, [])) == whole.num_rows, name


def test_topics_are_told_by_their_ids(part: Part, tmp_path: Path) -> None:
    assert told_names(part) == {"A" * 22: "orders", "B" * 22: "users"}
    assert told_names(part_of(tmp_path, Selection(relays=frozenset(range(CONNECTIONS))))) == {}


def test_rows_are_those_of_the_selection(tmp_path: Path) -> None:
    relays = frozenset(range(1, CONNECTIONS))
    groups = list(rows_of(part_of(tmp_path, Selection(relays=relays)), "exchanges", ["time"]))
    assert len(groups) == 3
    assert {each for rows in groups for each in rows["connection"].to_pylist()} == {0}


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
    assert Selection().columns(frozenset({"topic"})) == {"topic"}


def test_relays_are_left_out() -> None:
    found = Selection(relays=frozenset({1, 7}))
    assert found.of(ROWS).to_pylist() == ROWS.slice(1, 1).to_pylist()
    assert found.columns(frozenset({"topic"})) == {"topic", "connection"}


def test_topics_are_named() -> None:
    found = Selection(names=NAMES).of(ROWS)
    assert found["topic"].to_pylist() == ["orders", "plain", None]
    assert found["topics"].to_pylist() == [["orders", "plain", "J"], None, []]
    assert Selection(names=NAMES).columns(frozenset({"topic", "time"})) == {"topic", "time", "topic_id"}
    assert found.schema == ROWS.schema


def test_part_of_a_column_is_named_as_well() -> None:
    assert Selection(names=NAMES).of(ROWS.slice(1))["topics"].to_pylist() == [None, []]
    assert Selection(names=NAMES).of(ROWS.slice(0, 0)).num_rows == 0


COMMIT, TOLD = 8, 9
OFFSETS = schema_of_folded(ALL["offsets"])


def commit(time: int, group: str | None, offset: int, **other: object) -> dict[str, object]:
    row = {"api_key": COMMIT, "time": time, "group": group, "topic": "orders", "partition": 0, "request_offset": offset}
    return dict.fromkeys(OFFSETS.names) | row | other


CASES = {
    "the last one counts, not the greatest": ([commit(1, "a", 9), commit(2, "a", 5)], {("orders", 0, 5)}),
    "several groups": ([commit(1, "a", 9), commit(2, "b", 20)], {("orders", 0, 9), ("orders", 0, 20)}),
    "several groups at one place": ([commit(1, "a", 9), commit(2, "b", 9)], {("orders", 0, 9)}),
    "of one time the greatest": ([commit(1, "a", 7), commit(1, "a", 6)], {("orders", 0, 7)}),
    "a refused one does not count": ([commit(1, "a", 9), commit(2, "a", 5, error_code=16)], {("orders", 0, 9)}),
    "what is told counts": (
        [commit(1, "a", 9), commit(2, "a", -1, api_key=TOLD, response_offset=4)],
        {("orders", 0, 4)},
    ),
    "no offset yet": ([commit(1, "a", -1, api_key=TOLD, response_offset=-1)], set()),
    "a topic without a name is its id": ([commit(1, "a", 9, topic=None, topic_id="I" * 22)], {("I" * 22, 0, 9)}),
    "ends of logs are nobody's": ([commit(1, None, 9, api_key=1, log_end=8)], set()),
}


@pytest.mark.parametrize(("rows", "places"), CASES.values(), ids=CASES)
def test_where_groups_are(rows: list[dict[str, object]], places: set[tuple[str, int, int]]) -> None:
    found = waiting(pa.Table.from_pylist(rows, schema=OFFSETS)).to_pylist()
    assert sorted((row["topic"], row["partition"], row["offset"]) for row in found) == sorted(places)
