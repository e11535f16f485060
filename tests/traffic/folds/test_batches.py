"""Batches that a question cannot tell apart."""

import pytest

from netdiag.traffic.folds.batches import FOLDS, LATER
from netdiag.traffic.folds.fold import folded
from netdiag.traffic.folds.joined import sent
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
    controls = batch(9, control=True)
    got = batch(9, api_key=FETCH)
    found = folded(FOLDS["sequences"], rows_of("batches", [*rows, controls, got])).to_pylist()
    assert sorted(row["times"] for row in found) == times
    assert sum(row["records"] for row in found) == 6


def test_places_of_batches_are_told_once() -> None:
    assert all(not fold.sums and not fold.greatest for fold in LATER.values())
