"""Columns are summed up to the same as rows are, however they come."""

import random
from typing import Any

import pyarrow as pa
import pytest

from netdiag.traffic.arrow import record_batch
from netdiag.traffic.partial_batches import COLUMNS, LatencyBatches
from netdiag.traffic.rows import ExchangeRow, LatencyRow
from netdiag.traffic.tables import table
from tests.traffic.test_partials import answered, latencies, row, summed


def exchanges(count: int) -> list[ExchangeRow]:
    chance = random.Random(count)
    found = []
    for _ in range(count):
        given: dict[str, Any] = {
            "client": chance.choice(["10.0.0.1:5", "10.0.0.1:6", "[fd00::1]:7"]),
            "client_id": chance.choice(["a", None]),
            "api_name": chance.choice(["Fetch", "Produce", None]),
            "error_code": chance.choice([0, 3, None]),
        }
        took = chance.choice([0, 1, 255, 256, chance.randrange(10**4), chance.randrange(2 ** chance.randrange(1, 50))])
        found.append(chance.choice([answered(took, **given), row(**given, outcome="unanswered", request_bytes=4)]))
    return found


def batches(rows: list[ExchangeRow], at_once: int, most: int = 1000) -> list[LatencyRow]:
    sums = LatencyBatches(most)
    made: list[pa.RecordBatch] = []
    for begin in range(0, len(rows), at_once):
        whole = [
            each._replace(decoded="full", correlation_id=0, connection=0, file="") for each in rows[begin:][:at_once]
        ]
        made += sums.add(record_batch(table("exchanges"), whole, COLUMNS, unit="us"))
    made += sums.drain()
    return [LatencyRow(*each.values()) for batch in made for each in batch.to_pylist()]


@pytest.mark.parametrize("at_once", [1, 7, 400])
@pytest.mark.parametrize("most", [3, 1000])
def test_columns_give_what_rows_give(at_once: int, most: int) -> None:
    rows = exchanges(300)
    assert summed(batches(rows, at_once, most)) == summed(latencies(rows))


def test_rows_alike_are_one() -> None:
    found = batches(exchanges(200), 10)
    assert len({each[:5] for each in found}) == len(found)


def test_nothing_gives_nothing() -> None:
    assert batches([], 1) == []
    assert batches(exchanges(1), 1) != []
