"""What several questions share does what it says of itself."""

import math

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema

from netdiag.kafka.error_codes import error_codes
from netdiag.traffic.aggregates import expressions
from netdiag.traffic.aggregates.expressions import shaped, struct_of, times, times_if, weighed
from netdiag.traffic.arrow import schema_of
from netdiag.traffic.tables import NAMES, RAW_NAMES, aggregate, table
from tests.traffic.aggregates.frames import T0, S, frame


@pytest.mark.parametrize(
    ("endpoint", "host"), [("10.0.0.1:9092", "10.0.0.1"), ("[fe80::1]:9092", "fe80::1"), ("name", "name")]
)
def test_the_host_of_an_endpoint(spark: SparkSession, endpoint: str, host: str) -> None:
    (row,) = spark.createDataFrame([(endpoint,)], "e string").select(expressions.host("e")).collect()
    assert row[0] == host


def test_percentiles_are_within_half_a_percent_however_rows_are_spread(spark: SparkSession) -> None:
    values = [math.exp(step / 500) / 10 for step in range(5000)]
    found = []
    for parts in (1, 2, 7):
        rows = spark.createDataFrame([(value,) for value in values], "v double").repartition(parts)
        found.append(tuple(rows.agg(*expressions.quantiles(F.col("v"), "v")).first() or ()))
    assert len(set(found)) == 1
    exact = [values[round(share * (len(values) - 1))] for share in (0.5, 0.95, 0.99)]
    assert found[0][:3] == pytest.approx(exact, rel=0.006)
    assert found[0][3] == max(values)


def test_zero_counts_and_null_does_not(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(0.0,), (0.0,), (None,), (8.0,)], "v double")
    assert rows.agg(expressions.median(F.col("v"))).first() == (0.0,)


def test_every_error_code_has_its_name(spark: SparkSession) -> None:
    codes = spark.createDataFrame([(each.code, each.name) for each in error_codes()], "c smallint, name string")
    assert codes.where(expressions.error_name("c") != F.col("name")).count() == 0
    (row,) = spark.createDataFrame([(999,)], "c smallint").select(expressions.error_name("c")).collect()
    assert row[0] == "ERROR_CODE(999)"


def test_the_span_of_one_moment_is_none(spark: SparkSession) -> None:
    assert expressions.span(frame(spark, "exchanges", {})).first() == (None,)
    two = frame(spark, "exchanges", {}, {"time": T0 + S, "response_time": T0 + 3 * S})
    assert expressions.span(two).first() == (3.0,)


def test_a_row_of_a_whole_table_is_one(spark: SparkSession) -> None:
    (row,) = weighed(spark.sql("select timestamp '2026-01-01' as time")).collect()
    assert (row["times"], row["until"]) == (1, row["time"])
    assert weighed(spark.sql("select 1 as a")).columns == ["a", "times"]


def test_a_folded_row_is_as_many_as_it_says(spark: SparkSession) -> None:
    rows = weighed(spark.createDataFrame([(3, "a"), (4, "b")], "times bigint, kind string"))
    (row,) = rows.agg(times().alias("all"), times_if(F.col("kind") == "b").alias("b")).collect()
    assert (row["all"], row["b"]) == (7, 4)
    (nothing,) = rows.where("times > 9").agg(times().alias("all"), times_if(F.lit(True)).alias("b")).collect()
    assert (nothing["all"], nothing["b"]) == (0, 0)


@pytest.mark.parametrize("name", NAMES + RAW_NAMES)
def test_both_schemas_are_one(name: str) -> None:
    arrow = to_arrow_schema(struct_of(table(name)), timezone="UTC")
    expected = schema_of(table(name), unit="us")
    assert arrow.names == expected.names
    assert [field.type for field in arrow] == [field.type for field in expected]
    assert [field.nullable for field in arrow] == [field.nullable for field in expected]


def test_columns_come_in_the_order_asked_for() -> None:
    assert struct_of(table("names"), ["type", "time"]).names == ["type", "time"]
    with pytest.raises(KeyError):
        struct_of(table("names"), ["payload"])


def test_a_frame_gets_the_declared_shape(spark: SparkSession) -> None:
    loose = spark.range(1).select(
        F.lit("more").alias("more"),
        *[F.lit(None).cast("string").alias(name) for name in reversed(aggregate("loss_kinds").names)],
    )
    found = shaped(loose, aggregate("loss_kinds"))
    assert [(field.name, field.dataType) for field in found.schema] == [
        (field.name, field.dataType) for field in struct_of(aggregate("loss_kinds"))
    ]
