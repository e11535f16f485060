"""Batches that a question cannot tell apart."""

import pyarrow as pa
import pytest

from netdiag.traffic.folds.batches import FOLDS, LATER, MOST_RESENT, RESENT, settled_sequences
from netdiag.traffic.folds.fold import folded
from netdiag.traffic.folds.joined import sent, spoken
from tests.traffic.folds.memory import InMemory, rows_of

PRODUCE, FETCH = 0, 1


def batch(time: int, **other: object) -> dict[str, object]:
    plain = {"time": time, "connection": 1, "correlation_id": 7, "api_key": PRODUCE, "topic": "orders", "partition": 0}
    return plain | {"records": 2, "bytes": 100, "codec": "none", "producer_id": 5, "base_sequence": 0} | other


def test_sizes_of_three_digits_are_one_and_their_sum_is_exact() -> None:
    batches = rows_of("batches", [batch(0, bytes=size) for size in (12_341, 12_344, 12_360)])
    exchanges = rows_of("exchanges", [{"time": 0, "connection": 1, "correlation_id": 7, "api_key": PRODUCE, "acks": 1}])
    (rows,) = sent(InMemory(batches=batches, exchanges=exchanges), FOLDS["sent"].reads)
    found = folded(FOLDS["sent"], rows).to_pylist()
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
    (rows,) = spoken(part, FOLDS["sequences"].reads)
    return folded(FOLDS["sequences"], rows)


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
    found = settled_sequences(FOLDS["sequences"], spoken_and_folded(batches)).to_pylist()
    assert (sum(row[RESENT] for row in found), max(row[MOST_RESENT] for row in found)) == again
    assert sum(row["times"] for row in found) == len(batches)
    assert sum(row["records"] for row in found) == 2 * len(batches)


def test_places_of_batches_are_told_once() -> None:
    assert all(not fold.sums and not fold.greatest for fold in LATER.values())
