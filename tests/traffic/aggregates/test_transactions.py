"""Transactions as they begin and end on the wire."""

from typing import Any

from pyspark.sql import SparkSession

from netdiag.traffic.aggregates.transactions import transactions
from tests.traffic.aggregates.frames import MS, T0, frame, rows_of


def step(at: int, api_key: int, **more: Any) -> dict[str, Any]:
    return {
        "time": T0 + at * MS,
        "response_time": T0 + (at + 1) * MS,
        "api_key": api_key,
        "transactional_id": "t",
        "error_code": 0,
        "request_packet": at,
        **more,
    }


INIT, ADD, END, PRODUCE = 22, 24, 26, 0


def counted(spark: SparkSession, *steps: dict[str, Any]) -> dict[str, Any]:
    (row,) = rows_of(transactions(frame(spark, "exchanges", *steps)), "transactions")
    return {name: row[name] for name in ("begun", "committed", "aborted", "failed", "open")} | {
        "longest": row["duration_max_ms"]
    }


def test_commit_abort_and_one_without_end(spark: SparkSession) -> None:
    assert counted(
        spark,
        step(0, INIT),
        step(10, ADD),
        step(11, PRODUCE),
        step(20, END, committed=True),
        step(30, PRODUCE),
        step(90, END, committed=False),
        step(100, ADD),
    ) == {"begun": 3, "committed": 1, "aborted": 1, "failed": 0, "open": 1, "longest": 61.0}


def test_an_end_that_is_refused_may_be_tried_again(spark: SparkSession) -> None:
    assert counted(spark, step(0, ADD), step(5, END, committed=True, error_code=51), step(9, END, committed=True)) == {
        "begun": 1,
        "committed": 1,
        "aborted": 0,
        "failed": 0,
        "open": 0,
        "longest": 10.0,
    }


def test_a_producer_that_starts_anew_leaves_a_failed_one(spark: SparkSession) -> None:
    assert counted(spark, step(0, INIT), step(1, ADD), step(50, INIT)) == {
        "begun": 1,
        "committed": 0,
        "aborted": 0,
        "failed": 1,
        "open": 0,
        "longest": None,
    }
