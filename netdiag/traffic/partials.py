"""Exchanges summed up where they were found: a row per client, broker, api and bucket of latency, not per exchange.

Sums of whole numbers: rows of several tasks, or of several times in one task, are added, and come to the same however
the work was split. What is held is bounded: when it is much, it is handed on and begun anew.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from netdiag.traffic.histogram import bucket_of
from netdiag.traffic.rows import ExchangeRow, LatencyRow

KEYS = ("api_name", "client", "client_id", "broker", "bucket")
SUMS = LatencyRow._fields[len(KEYS) :]
_MOST = 100_000
_UNANSWERED = "unanswered"
# What is added up of a key, in the order of LatencyRow.
_Sums = list[int]


class Latencies:
    """Rows of `latencies` out of rows of `exchanges`."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._sums: dict[tuple[Any, ...], _Sums] = {}

    def add(self, rows: Iterable[ExchangeRow]) -> Iterator[LatencyRow]:
        """Count exchanges; gives rows when more keys are held than is good."""
        for row in rows:
            self._count(row)
            if len(self._sums) >= self._most:
                yield from self.drain()

    def drain(self) -> Iterator[LatencyRow]:
        """The rows so far."""
        sums, self._sums = self._sums, {}
        for (api, client, client_id, broker, bucket), counted in sums.items():
            yield LatencyRow(api, client, client_id, broker, bucket, *counted)

    def _count(self, row: ExchangeRow) -> None:
        # Nanoseconds again, without a rest up to months.
        took = None if row.latency_ms is None else max(0, round(row.latency_ms * 1e6))
        bucket = None if took is None else bucket_of(took)
        key = (row.api_name, row.client.rpartition(":")[0].strip("[]"), row.client_id, row.broker, bucket)
        sums = self._sums.get(key)
        if sums is None:
            sums = self._sums[key] = [0] * 7
        sums[0] += row.request_bytes is not None
        sums[1] += row.response_bytes is not None
        sums[2] += row.outcome == _UNANSWERED
        sums[3] += bool(row.error_code)
        sums[4] += row.request_bytes or 0
        sums[5] += row.response_bytes or 0
        sums[6] += took or 0
