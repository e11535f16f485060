"""Partial sums as Spark adds them up, against the exchanges themselves."""

import random
from typing import TYPE_CHECKING

from netdiag.traffic.aggregates.partial import merged, percentiles
from netdiag.traffic.arrow import record_batch
from netdiag.traffic.histogram import RELATIVE_ERROR, bucket_of, middle_of
from netdiag.traffic.rows import LatencyRow
from netdiag.traffic.tables import table
from tests.traffic.test_partials import answered, latencies, row

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def frame(spark: "SparkSession", rows: list[LatencyRow]) -> "DataFrame":
    import pyarrow as pa

    return spark.createDataFrame(pa.Table.from_batches([record_batch(table("latencies"), rows, unit="us")]))


def test_percentiles_are_within_their_error(spark: "SparkSession") -> None:
    chance = random.Random(3)
    took = sorted(int(chance.lognormvariate(15, 2)) for _ in range(1001))
    rows = [answered(each) for each in took]
    chance.shuffle(rows)
    parts = [*latencies(rows[:300]), *latencies(rows[300:], most=7), *latencies([row(request_bytes=1)])]
    (found,) = percentiles(frame(spark, parts), "api_name").collect()
    assert (found["requests"], found["responses"], found["response_bytes"]) == (1002, 1001, 7007)
    for percent, exact in ((50, took[500]), (95, took[950]), (99, took[990])):
        assert abs(found[f"latency_p{percent}_ms"] * 1e6 - exact) <= RELATIVE_ERROR * exact + 1
    assert abs(found["latency_max_ms"] * 1e6 - took[-1]) <= RELATIVE_ERROR * took[-1] + 1
    assert abs(found["latency_mean_ms"] * 1e6 - sum(took) / len(took)) < 1


def test_a_key_and_bucket_is_one_row_when_merged(spark: "SparkSession") -> None:
    parts = [each for _ in range(3) for each in latencies([answered(5), answered(70_000), row(request_bytes=1)])]
    found = merged(frame(spark, parts)).orderBy("bucket").collect()
    assert [(each["bucket"], each["requests"], each["latency_ns"]) for each in found] == [
        (None, 3, 0),
        (5, 3, 15),
        (bucket_of(70_000), 3, 210_000),
    ]


def test_the_middle_of_a_bucket_is_that_of_the_histogram(spark: "SparkSession") -> None:
    chance = random.Random(5)
    took = [0, 1, 127, 128, 255, 256, 511, 512, *(chance.randrange(2 ** chance.randrange(1, 60)) for _ in range(60))]
    for each in percentiles(frame(spark, latencies([answered(one, client_id=str(one)) for one in took]))).collect():
        assert (
            each["latency_max_ms"] * 1e6 == middle_of(bucket_of(int(each["client_id"])))
            or abs(each["latency_max_ms"] * 1e6 / middle_of(bucket_of(int(each["client_id"]))) - 1) < 1e-12
        )
