"""Each fold keeps what its question asks for."""

import pyarrow as pa
import pytest

from netdiag.traffic.aggregates.questions import QUESTIONS
from netdiag.traffic.folds.all_folds import (
    ALL,
    LATER,
    MOST_RESENT,
    OF_BATCHES,
    OF_EXCHANGES,
    OF_PARTITIONS,
    RESENT,
    VIEWS,
    settled_sequences,
)
from netdiag.traffic.folds.fold import folded
from netdiag.traffic.folds.views import asked, sent, spoken
from netdiag.traffic.tables import NAMES, table
from tests.traffic.folds.anything import anything
from tests.traffic.folds.memory import InMemory, rows_of


def test_folds_are_of_tables_and_their_columns() -> None:
    for name, fold in ALL.items():
        assert fold.of in (*NAMES, *VIEWS), name
        if fold.of in NAMES:
            assert set(fold.reads) <= set(table(fold.of).names), name
            assert set(fold.made) <= set(fold.reads), name


def test_questions_name_folds_that_there_are() -> None:
    named = {fold for question in QUESTIONS.values() for fold in question.folds.values()}
    assert named <= set(ALL)


ROWS = anything(9, rows=2000)["exchanges"]
COLUMNS = ["connection", "correlation_id", "response_time", "api_key"]


def test_no_fold_has_as_many_rows_as_its_table() -> None:
    for name, fold in OF_EXCHANGES.items():
        if not fold.apart:
            assert 0 < folded(fold, ROWS).num_rows < ROWS.num_rows, name


def test_exchanges_without_an_api_have_no_version() -> None:
    rows = folded(OF_EXCHANGES["api_versions"], ROWS).to_pylist()
    assert None not in {row["api_key"] for row in rows}
    asked = sum(each is not None for each in ROWS["api_key"].to_pylist())
    assert sum(row["times"] for row in rows) == asked


def test_only_exchanges_that_may_have_told_an_address_are_looked_at() -> None:
    tables = anything(9)
    found = pa.concat_tables(VIEWS["tellers"].rows(InMemory(**tables), COLUMNS))
    told = set(tables["endpoints"]["time"].to_pylist())
    wanted = [
        row
        for row in tables["exchanges"].select(COLUMNS).to_pylist()
        if row["api_key"] == 3 or row["response_time"] in told
    ]
    assert 0 < len(wanted) < tables["exchanges"].num_rows
    assert found.select(COLUMNS).to_pylist() == wanted


PRODUCE, FETCH, COMMIT = 0, 1, 8


def partition(time: int, **other: object) -> dict[str, object]:
    plain = {"time": time, "connection": 1, "correlation_id": 7, "api_key": PRODUCE, "topic": "orders", "partition": 0}
    return plain | {"error_code": 0, "records": 2, "record_bytes": 100, "response_offset": 10} | other


def places_of(name: str, *rows: dict[str, object]) -> list[dict[str, object]]:
    part = InMemory(partitions=rows_of("partitions", rows))
    (whole,) = asked(part, OF_PARTITIONS[name].reads)
    found: list[dict[str, object]] = folded(OF_PARTITIONS[name], whole).to_pylist()
    return found


def test_what_is_asked_of_a_partition_is_added_up() -> None:
    (place,) = places_of("places", partition(2), partition(1, records=3), partition(1, records=3))
    sums = {name: place[name] for name in ("times", "records", "record_bytes", "first_of_topic", "first_of_partition")}
    assert sums == {"times": 3, "records": 8, "record_bytes": 300, "first_of_topic": 2, "first_of_partition": 2}


def test_offsets_of_groups_stay_what_they_are_and_ends_of_logs_become_one() -> None:
    commits = [partition(time, api_key=COMMIT, group="a", request_offset=time) for time in (1, 2)]
    ends = [partition(time, response_offset=10 * time) for time in (3, 4)]
    rows = places_of("offsets", *commits, *ends, partition(5, api_key=FETCH))
    assert sorted((row["group"] or "", row["request_offset"] or 0, row["log_end"] or 0) for row in rows) == [
        ("", 0, 42),
        ("a", 1, 0),
        ("a", 2, 0),
    ]


@pytest.mark.parametrize(("name", "codes"), [("refused_partitions", [3, 10]), ("too_large", [10])])
def test_only_what_is_refused(name: str, codes: list[int]) -> None:
    rows = [partition(1, error_code=code) for code in (0, 3, 10, None)]
    assert [row["error_code"] for row in places_of(name, *rows)] == codes


def batch(time: int, **other: object) -> dict[str, object]:
    plain = {
        "time": time,
        "connection": 1,
        "correlation_id": 7,
        "api_key": PRODUCE,
        "topic": "orders",
        "partition": 0,
    }
    return plain | {"records": 2, "bytes": 100, "codec": "none", "producer_id": 5, "base_sequence": 0} | other


def test_sizes_of_three_digits_are_one_and_their_sum_is_exact() -> None:
    batches = rows_of("batches", [batch(0, bytes=size) for size in (12_341, 12_344, 12_360)])
    exchanges = rows_of("exchanges", [{"time": 0, "connection": 1, "correlation_id": 7, "api_key": PRODUCE, "acks": 1}])
    (rows,) = sent(InMemory(batches=batches, exchanges=exchanges), OF_BATCHES["sent"].reads)
    found = folded(OF_BATCHES["sent"], rows).to_pylist()
    kept = [(row["acks"], row["times"], row["bytes"], row["all_bytes"], row["all_records"]) for row in found]
    assert sorted(kept) == [(1, 1, 12_360, 12_360, 2), (1, 2, 12_344, 24_685, 4)]


@pytest.mark.parametrize(
    ("sequences", "producer", "times"),
    [
        pytest.param((0, 2, 2), 5, [1, 2], id="a sequence that came twice"),
        pytest.param((0, 2, 2), -1, [3], id="without a producer id nothing is sent again"),
    ],
)
def test_sequences(sequences: tuple[int, ...], producer: int, times: list[int]) -> None:
    rows = [batch(time, base_sequence=each, producer_id=producer) for time, each in enumerate(sequences)]
    found = spoken_and_folded([*rows, batch(9, control=True), batch(9, api_key=FETCH)]).to_pylist()
    assert sorted(row["times"] for row in found) == times
    assert sum(row["records"] for row in found) == 6
    assert min((row["time"], row["client"]) for row in found)[1] == "10.0.0.9:40000"


def spoken_and_folded(batches: list[dict[str, object]]) -> pa.Table:
    """The fold `sequences` of batches on two connections of one client."""
    ends = [{"connection": each, "client": f"10.0.0.9:4000{each - 1}", "broker": "b", "file": "f"} for each in (1, 2)]
    part = InMemory(batches=rows_of("batches", batches), connections=rows_of("connections", ends))
    (rows,) = spoken(part, OF_BATCHES["sequences"].reads)
    return folded(OF_BATCHES["sequences"], rows)


AGAIN = {
    "each once": ([batch(0, base_sequence=0), batch(1, base_sequence=2)], (0, 1)),
    "one again": ([batch(0), batch(1), batch(2, base_sequence=2)], (1, 2)),
    "one again on another connection": ([batch(0), batch(1, connection=2), batch(2, connection=2)], (2, 3)),
    "the same of another topic": ([batch(0), batch(1, topic="users")], (0, 1)),
    "of another partition": ([batch(0), batch(1, partition=1)], (0, 1)),
    "of another client": ([batch(0), batch(1, client_id="other")], (0, 1)),
    "by its id and by its name": ([batch(0, topic_id="I"), batch(1)], (1, 2)),
    "without a producer id": ([batch(0, producer_id=-1), batch(1, producer_id=-1)], (0, 1)),
    "two that came again": ([batch(0), batch(1), batch(2, base_sequence=2), batch(3, base_sequence=2)], (2, 2)),
}


@pytest.mark.parametrize(("batches", "again"), AGAIN.values(), ids=AGAIN)
def test_what_was_sent_again(batches: list[dict[str, object]], again: tuple[int, int]) -> None:
    found = settled_sequences(OF_BATCHES["sequences"], spoken_and_folded(batches)).to_pylist()
    assert (sum(row[RESENT] for row in found), max(row[MOST_RESENT] for row in found)) == again
    assert sum(row["times"] for row in found) == len(batches)
    assert sum(row["records"] for row in found) == 2 * len(batches)


def test_places_of_batches_are_told_once() -> None:
    assert all(not fold.sums and not fold.greatest for fold in LATER.values())
