"""What is made of all pieces of a fold."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from netdiag.traffic.aggregates.questions import QUESTIONS
from netdiag.traffic.folds import ALL, ENDS, KEY, MOST_RESENT, PIECES, RESENT, roles, whole
from netdiag.traffic.insights import ALL as INSIGHTS
from netdiag.traffic.native import Folded, ReadOptions, read
from netdiag.traffic.tables import table
from tests.traffic.folds.random_exchanges import capture_by_chance


@pytest.fixture(scope="module")
def pieces(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pa.Table]:
    path = capture_by_chance(tmp_path_factory.mktemp("captures") / "a.pcap", 4)
    return pieces_of(path)


def pieces_of(path: Path, **more: Any) -> dict[str, pa.Table]:
    found: dict[str, list[pa.RecordBatch]] = {}
    options = ReadOptions(tables=frozenset({"connections"}))
    for ready in read([str(path)], options, folded=Folded(pieces=PIECES), unit="us", **more):
        for name, batches in ready.items():
            found.setdefault(name, []).extend(pa.record_batch(batch) for batch in batches)
    return {name: pa.Table.from_batches(batches) for name, batches in found.items()}


def test_every_fold_comes_even_without_rows(tmp_path: Path) -> None:
    capture_by_chance(tmp_path / "a.pcap", 1, connections=1, exchanges=0)
    found = pieces_of(tmp_path / "a.pcap")
    assert set(found) - {"connections"} == set(PIECES)
    assert all(rows.num_rows == 0 for name, rows in found.items() if name in PIECES)


def test_questions_name_folds_that_there_are() -> None:
    named = {fold for question in QUESTIONS.values() for fold in question.folds.values()}
    named |= {fold for insight in INSIGHTS.values() for fold in insight.folds.values()}
    assert named == set(ALL)


def test_a_fold_has_columns_of_its_table_by_the_same_types(pieces: dict[str, pa.Table]) -> None:
    known = {each.name: each.kind for each in table("exchanges").columns}
    for each in pieces["rates"].schema:
        if each.name in known:
            assert known[each.name].value.rstrip("0123456789") in {"int", "string", "time", "bool", "float"}, each.name
    for name in ALL:
        if name != "stamps":
            assert roles(pieces[name].schema, KEY), name


def test_what_is_left_out_is_not_folded(tmp_path: Path) -> None:
    path = capture_by_chance(tmp_path / "a.pcap", 2)
    found = pieces_of(path)
    chosen = sorted(found["connections"]["connection"].to_pylist())[::2]
    options = ReadOptions(tables=frozenset())
    kept: set[int] = set()
    for ready in read([str(path)], options, folded=Folded(pieces=PIECES, relays=chosen), unit="us"):
        for batch in ready["silences"]:
            kept |= set(pa.record_batch(batch)["connection"].to_pylist())
    assert kept == set(found["silences"]["connection"].to_pylist()) - set(chosen)


ORDERS, USERS = "orders", "users"


def produced(*, connection: int = 1, topic: str = ORDERS, client_id: str = "app", topic_id: str | None = None) -> Any:
    return {"connection": connection, "topic": topic, "topic_id": topic_id, "client_id": client_id}


def sequences(*bases: int, **more: Any) -> dict[str, Any]:
    plain = {"client": "10.0.0.9:0", "client_id": "app", "topic": ORDERS, "topic_id": None, "partition": 0}
    return plain | {"producer_id": 5, "producer_epoch": 0, "base_sequence": list(bases)} | more


AGAIN = {
    "each once": ([sequences(0, 2, 4)], (0, 1)),
    "one again": ([sequences(0, 0, 2)], (1, 2)),
    "one again that another worker saw": ([sequences(0), sequences(0, 0)], (2, 3)),
    "the same of another topic": ([sequences(0), sequences(0, topic=USERS)], (0, 1)),
    "of another partition": ([sequences(0), sequences(0, partition=1)], (0, 1)),
    "of another client": ([sequences(0), sequences(0, client_id="other")], (0, 1)),
    "of another producer": ([sequences(0), sequences(0, producer_id=6)], (0, 1)),
    "by its id and by its name": ([sequences(0, topic_id="I"), sequences(0)], (1, 2)),
    "two that came again": ([sequences(0, 2, 0, 2)], (2, 2)),
    "none": ([], (0, 1)),
}


@pytest.mark.parametrize(("sent", "again"), AGAIN.values(), ids=AGAIN)
def test_what_was_sent_again(pieces: dict[str, pa.Table], sent: list[dict[str, Any]], again: tuple[int, int]) -> None:
    rows = [produced(), produced(connection=2), produced(topic=USERS), produced(client_id="other")]
    given = {"produced": of(pieces["produced"], *rows), "sequences": of(pieces["sequences"], *sent)}
    ends = [{"connection": each, "client": f"10.0.0.9:4000{each}", "broker": "b", "file": "f"} for each in (1, 2)]
    connections = of(pieces["connections"].select(["connection", *ENDS]), *ends)
    found = whole("produced", given.__getitem__, lambda: connections).to_pylist()
    assert (sum(row[RESENT] for row in found), max(row[MOST_RESENT] for row in found)) == again
    assert {row["client"] for row in found} == {"10.0.0.9:40001", "10.0.0.9:40002"} or len(found) == 3
    assert sum(row["times"] for row in found) == len(rows)


def of(like: pa.Table, *rows: dict[str, Any]) -> pa.Table:
    """Rows with the columns of a table, null where they are not told; each was one."""
    return pa.Table.from_pylist([{"times": 1} | row for row in rows], like.schema)
