"""Lag as time goes by: sums of what is known of each partition, at the moments at which it changes."""

from typing import Any

from pyspark.sql import SparkSession

from netdiag.traffic.aggregates.lag_over_time import SERIES, lag_over_time
from netdiag.traffic.buckets import Buckets
from tests.traffic.aggregates.frames import T0, frame, picked, rows_of
from tests.traffic.aggregates.test_lag import FETCH, OFFSETS, committed, place

SPAN = Buckets(first=T0 // 1000, length=10_000_000, count=10)
NAMES = ("bucket", "partitions", "lag_records")


def told(spark: SparkSession, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = lag_over_time(frame(spark, "partitions", *rows), SPAN)
    return rows_of(found, "lag_over_time", "group", "topic", "bucket")


def test_a_partition_counts_once_both_offsets_are_known(spark: SparkSession) -> None:
    rows = told(
        spark,
        [
            place(1, FETCH, high_watermark=100),
            committed(12, 90),
            place(25, FETCH, high_watermark=150),
            committed(55, 150),
            committed(56, 99, error_code=27),
        ],
    )
    assert picked(rows, "group", "topic", *NAMES) == [
        ("g", "t", 1, 1, 10),
        ("g", "t", 2, 1, 60),
        ("g", "t", 5, 1, 0),
    ]


def test_partitions_are_summed_though_they_change_at_different_times(spark: SparkSession) -> None:
    rows = told(
        spark,
        [
            place(1, FETCH, high_watermark=100),
            place(1, OFFSETS, group="g", response_offset=0),
            place(2, FETCH, high_watermark=10, partition=1),
            committed(15, 4, partition=1),
            committed(31, 100),
        ],
    )
    assert picked(rows, *NAMES) == [(0, 1, 100), (1, 2, 106), (3, 2, 6)]


def test_an_offset_beyond_the_end_is_no_lag(spark: SparkSession) -> None:
    rows = told(spark, [place(1, FETCH, high_watermark=5), committed(2, 9)])
    assert picked(rows, *NAMES) == [(0, 1, 0)]


def test_the_last_offset_of_a_bucket_counts(spark: SparkSession) -> None:
    rows = told(spark, [place(1, FETCH, high_watermark=50), committed(2, 40), committed(3, 20)])
    assert picked(rows, *NAMES) == [(0, 1, 30)]


def test_those_furthest_behind_are_drawn(spark: SparkSession) -> None:
    places = [place(1, FETCH, high_watermark=1000)]
    places += [committed(2, 1000 - number, group=f"g{number}") for number in range(SERIES + 3)]
    rows = told(spark, places)
    assert {row["group"] for row in rows} == {f"g{number}" for number in range(3, SERIES + 3)}


def test_nothing_gives_nothing(spark: SparkSession) -> None:
    assert told(spark, []) == []
    assert told(spark, [committed(1, 5)]) == []
