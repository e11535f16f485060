"""How far groups are behind, at the end and as time goes by."""

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from netdiag.traffic.aggregates.lag import SERIES, commits, lag, lag_over_time
from netdiag.traffic.analysis import Buckets
from tests.traffic.aggregates.frames import MS, T0, S, frame, picked, rows_of

NOW = T0 + 100 * S
FETCH, PRODUCE, LIST, COMMIT, OFFSETS = 1, 0, 2, 8, 9


def place(at: int, api_key: int, **more: Any) -> dict[str, Any]:
    return {"time": T0 + at * S, "api_key": api_key, "topic": "t", "partition": 0, "error_code": 0, **more}


def committed(at: int, offset: int, **more: Any) -> dict[str, Any]:
    return place(at, COMMIT, **{"group": "g", "request_offset": offset, "client_id": "app", **more})


def fetched(base: int, records: int, first: float, last: float, **more: Any) -> dict[str, Any]:
    """A batch with records from `first` to `last` seconds."""
    return {
        "time": T0,
        "api_key": FETCH,
        "topic": "t",
        "partition": 0,
        "base_offset": base,
        "records": records,
        "last_offset_delta": records - 1,
        "first_timestamp": int((T0 + first * S) // MS),
        "max_timestamp": int((T0 + last * S) // MS),
        **more,
    }


def asked(spark: SparkSession, partitions: list[dict[str, Any]], batches: list[dict[str, Any]]) -> DataFrame:
    exchanges = frame(spark, "exchanges", {"response_time": NOW})
    return lag(frame(spark, "partitions", *partitions), frame(spark, "batches", *batches), exchanges)


def test_records_and_time_behind(spark: SparkSession) -> None:
    partitions = [
        committed(1, 5),
        committed(50, 15),
        committed(60, 99, error_code=27),
        place(40, FETCH, high_watermark=30),
        place(70, LIST, timestamp=-1, response_offset=40),
        place(71, LIST, timestamp=-2, response_offset=90),
        place(72, FETCH, high_watermark=77, error_code=6),
    ]
    batches = [fetched(0, 10, 0, 9), fetched(10, 11, 10, 20), fetched(30, 10, 80, 90)]
    (row,) = rows_of(asked(spark, partitions, batches), "lag")
    names = ("group", "topic", "partition", "committed_offset", "end_offset", "lag_records", "client_id")
    assert picked([row], *names) == [("g", "t", 0, 15, 40, 25, "app")]
    # Record 15 is in the middle of the batch from 10 to 20 s: 85 s old.
    assert row["lag_ms"] == pytest.approx(85_000)
    assert row["lag_at_least_ms"] is None


def test_no_lag_is_no_time(spark: SparkSession) -> None:
    partitions = [committed(1, 30), place(2, FETCH, high_watermark=30)]
    (row,) = rows_of(asked(spark, partitions, []), "lag")
    assert (row["lag_records"], row["lag_ms"], row["lag_at_least_ms"]) == (0, 0.0, None)


def test_a_batch_that_is_not_in_the_capture_gives_a_lower_bound(spark: SparkSession) -> None:
    partitions = [committed(1, 12), place(2, FETCH, high_watermark=60)]
    batches = [fetched(50, 1, 70, 70), fetched(30, 10, 60, 61)]
    (row,) = rows_of(asked(spark, partitions, batches), "lag")
    assert (row["lag_ms"], row["lag_at_least_ms"]) == (None, 40_000.0)


def test_produced_batches_are_placed_by_their_answer(spark: SparkSession) -> None:
    key = {"connection": 3, "correlation_id": 8, "time": T0 + 2 * S}
    sent = place(2, PRODUCE, **key, response_offset=100, records=10)
    partitions = [committed(1, 100), sent]
    batches = [fetched(0, 10, 1, 1, api_key=PRODUCE, **key)]
    (row,) = rows_of(asked(spark, partitions, batches), "lag")
    assert (row["end_offset"], row["lag_records"], row["lag_ms"]) == (110, 10, 99_000.0)


def test_an_offset_that_was_only_asked_for(spark: SparkSession) -> None:
    partitions = [
        place(1, OFFSETS, group="g", response_offset=7),
        place(2, OFFSETS, group="h", response_offset=-1),
        place(3, FETCH, high_watermark=9),
    ]
    rows = rows_of(asked(spark, partitions, []), "lag")
    assert picked(rows, "group", "committed_offset", "lag_records") == [("g", 7, 2)]


def test_without_an_end_the_lag_is_unknown(spark: SparkSession) -> None:
    (row,) = rows_of(asked(spark, [committed(1, 5)], []), "lag")
    assert (row["end_offset"], row["lag_records"], row["lag_ms"]) == (None, None, None)


def test_timestamps_of_the_broker_are_one_for_the_batch(spark: SparkSession) -> None:
    partitions = [committed(1, 5), place(2, FETCH, high_watermark=10)]
    batches = [fetched(0, 10, 0, 50, log_append_time=True), fetched(0, 10, 0, 99, control=True)]
    (row,) = rows_of(asked(spark, partitions, batches), "lag")
    assert row["lag_ms"] == 50_000.0


def test_commits(spark: SparkSession) -> None:
    partitions = [committed(1, 5), committed(3, 9), committed(4, 11, error_code=22), committed(2, 7, group="h")]
    rows = rows_of(commits(frame(spark, "partitions", *partitions)), "commits", "group")
    assert picked(rows, "group", "commits", "failed", "first_offset", "last_offset", "last_time") == [
        ("g", 3, 1, 5, 9, T0 + 4 * S),
        ("h", 1, 0, 7, 7, T0 + 2 * S),
    ]


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
