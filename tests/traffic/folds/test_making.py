"""Columns made over say to a question what they said before."""

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from netdiag.traffic.aggregates.expressions import host, three_digits
from netdiag.traffic.folds.making import digits, hosts, mapped, seconds

S = 1_000_000


def test_the_port_of_a_host_is_0(spark: SparkSession) -> None:
    given = ["10.0.0.1:4000", "[fd00::1]:77", "fd00::1", "", None, "10.0.0.1:4000"]
    rows = pa.table({"client": pa.array(given, pa.string())})
    made = hosts("client")(rows)
    assert made.to_pylist()[:3] == ["10.0.0.1:0", "[fd00::1]:0", "fd00::0"]
    before, after = (
        [row[0] for row in spark.createDataFrame(each).select(host("client")).collect()]
        for each in (rows.slice(0, 2), pa.table({"client": made}).slice(0, 2))
    )
    assert before == after == ["10.0.0.1", "fd00::1"]


def test_seconds_begin_where_they_begin() -> None:
    times = pa.array([0, S - 1, S, 25 * S + 1], pa.timestamp("us", tz="UTC"))
    rows = pa.table({"time": times})
    assert seconds("time")(rows).cast(pa.int64()).to_pylist() == [0, 0, S, 25 * S]
    assert seconds("time", 10)(rows).cast(pa.int64()).to_pylist() == [0, 0, 0, 20 * S]


def test_what_has_one_key_is_one_number_at_three_digits(spark: SparkSession) -> None:
    chance = np.random.default_rng(7)
    microseconds = chance.integers(0, 10**8, 20_000) / 1000
    halves = np.concatenate([(np.arange(100, 1000) + 0.5) * 10.0**power for power in range(-5, 4)])
    edges = np.array([0.0, 0.001, 1.0, 9.995, 9.994999999999999, 99.95, 100.0, 1e-6, 1e9])
    values = np.concatenate([microseconds, halves, np.nextafter(halves, 0), np.nextafter(halves, 1e9), edges])
    rows = pa.table({"latency": pa.array([*values.tolist(), None])})
    key = digits(lambda rows: rows["latency"])(rows)
    assert len(key[: len(microseconds)].unique()) < 0.3 * len(microseconds)
    frame = spark.createDataFrame(rows.append_column("key", key)).withColumn("three", three_digits(F.col("latency")))
    several = frame.groupBy("key").agg(F.count_distinct("three").alias("count")).where(F.col("count") > 1)
    assert several.collect() == []
    assert key[len(rows) - 1].as_py() is None


def test_texts_are_mapped_once() -> None:
    asked = []

    def shout(text: str) -> str | None:
        asked.append(text)
        return text.upper() if text else None

    column = pa.chunked_array([pa.array(["a", None, "a", ""])])
    assert mapped(column, shout).to_pylist() == ["A", None, "A", None]
    assert asked == ["a", ""]
