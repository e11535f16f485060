"""Connections with what went wrong on them."""

from pyspark.sql import SparkSession

from netdiag.traffic.aggregates.charts import drawn
from netdiag.traffic.buckets import Buckets
from tests.traffic.aggregates.frames import T0, S, frame, picked, rows_of

SPAN = Buckets(first=0, length=1, count=1)


def test_every_kind_of_trouble_counts_once_and_the_worst_come_first(spark: SparkSession) -> None:
    connections = frame(
        spark,
        "connections",
        {"connection": 1, "client_bytes": 5, "first_time": T0, "last_time": T0 + 3 * S},
        {"connection": 2, "client_bytes": 9},
        {"connection": 3, "opening": "refused", "ending": "reset-by-broker"},
        {"connection": 4, "retransmissions": 7, "zero_windows": 1, "lost_bytes": 3},
        {"connection": 5},
        {"connection": 6, "opening": "unseen"},
    )
    exchanges = frame(
        spark,
        "exchanges",
        {"connection": 5, "error_code": 6},
        {"connection": 5, "error_code": 6},
        {"connection": 5, "outcome": "unanswered"},
        {"connection": 2, "api_key": 18, "error_code": 35},
    )
    found = drawn("worst_connections", {"connections": connections, "exchanges": exchanges}, SPAN)
    order = [row["connection"] for row in found.collect()]
    rows = {row["connection"]: row for row in rows_of(found, "worst_connections")}
    assert order == [4, 3, 5, 2, 1, 6]
    assert [rows[number]["trouble"] for number in order] == [3, 2, 2, 0, 0, 0]
    assert picked([rows[5]], "errors", "unanswered") == [(2, 1)]
    assert rows[1]["seconds"] == 3.0
