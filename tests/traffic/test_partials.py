"""Partial sums added up are the sums of all, however they were split."""

import random
from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from netdiag.traffic.histogram import bucket_of
from netdiag.traffic.partials import Latencies
from netdiag.traffic.rows import ExchangeRow, LatencyRow

KEYS = 5
EMPTY: dict[str, Any] = dict.fromkeys(ExchangeRow._fields)


def row(**given: Any) -> ExchangeRow:
    usual = {"client": "10.0.0.2:4000", "broker": "b:9092", "api_name": "Fetch", "outcome": "answered", "time": 10}
    return ExchangeRow(**{**EMPTY, **usual, **given})


def answered(took: int, **given: Any) -> ExchangeRow:
    usual = {"response_time": 10 + took, "latency_ms": took / 1e6, "request_bytes": 3, "response_bytes": 7}
    return row(**{**usual, **given})


def summed(rows: list[LatencyRow]) -> dict[tuple[Any, ...], Counter[str]]:
    found: dict[tuple[Any, ...], Counter[str]] = {}
    for each in rows:
        sums = dict(zip(LatencyRow._fields[KEYS:], each[KEYS:], strict=True))
        found.setdefault(each[:KEYS], Counter()).update(sums)
    return found


def latencies(rows: list[ExchangeRow], most: int = 1000) -> list[LatencyRow]:
    sums = Latencies(most)
    return [*sums.add(rows), *sums.drain()]


def test_what_is_counted() -> None:
    found = latencies(
        [
            answered(1000),
            answered(1001, error_code=3),
            row(request_bytes=5, outcome="unanswered"),
            row(api_name=None, response_bytes=9, outcome="no-request", client="[fd00::1]:5", response_time=10),
        ]
    )
    assert found == [
        LatencyRow("Fetch", "10.0.0.2", None, "b:9092", bucket_of(1000), 2, 2, 0, 1, 6, 14, 2001),
        LatencyRow("Fetch", "10.0.0.2", None, "b:9092", None, 1, 0, 1, 0, 5, 0, 0),
        LatencyRow(None, "fd00::1", None, "b:9092", None, 0, 1, 0, 0, 0, 9, 0),
    ]


@given(
    st.lists(st.tuples(st.integers(0, 10**12), st.sampled_from(["a", "b", None])), max_size=60),
    st.sampled_from([1, 2, 3, 7]),
    st.integers(1, 9),
)
def test_splitting_changes_nothing(drawn: list[tuple[int, str | None]], tasks: int, most: int) -> None:
    rows = [answered(took, client_id=client) for took, client in drawn]
    parts = [latencies(rows[number::tasks], most) for number in range(tasks)]
    random.Random(0).shuffle(parts)
    assert summed([each for part in parts for each in part]) == summed(latencies(rows))


def test_what_is_held_is_bounded() -> None:
    sums = Latencies(10)
    given_on = [len(list(sums.add([answered(1, client_id=str(number))]))) for number in range(25)]
    assert (sum(given_on), len(list(sums.drain()))) == (20, 5)
