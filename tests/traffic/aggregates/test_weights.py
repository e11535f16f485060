"""Rows of whole tables are one each, those of folded ones say how many they are."""

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from netdiag.traffic.aggregates.weights import times, times_if, weighed


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
