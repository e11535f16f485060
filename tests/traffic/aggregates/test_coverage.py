"""How far messages were decoded, and what was lost."""

from pyspark.sql import SparkSession

from netdiag.traffic.aggregates.coverage import coverage, loss_kinds
from tests.traffic.aggregates.frames import frame, picked, rows_of


def test_exchanges_by_how_far_they_were_decoded(spark: SparkSession) -> None:
    whole = {"api_name": "Fetch", "api_version": 17, "request_bytes": 10, "response_bytes": 20}
    exchanges = frame(spark, "exchanges", whole, whole, {**whole, "decoded": "header", "response_bytes": None})
    rows = rows_of(coverage(exchanges), "coverage", "decoded")
    assert picked(rows, "decoded", "exchanges", "bytes") == [("full", 2, 60), ("header", 1, 10)]


def test_losses_by_kind(spark: SparkSession) -> None:
    gap = {"file": "f", "kind": "gap", "bytes": 10, "times": 2, "connection": 1}
    losses = frame(spark, "losses", gap, {**gap, "connection": 2}, {**gap, "kind": "damage", "connection": None})
    rows = rows_of(loss_kinds(losses), "loss_kinds", "kind")
    assert picked(rows, "kind", "connections", "bytes", "times") == [("damage", 0, 10, 2), ("gap", 2, 20, 4)]
