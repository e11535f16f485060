"""How much of a capture was understood."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from netdiag.traffic.aggregates.declared import aggregate
from netdiag.traffic.aggregates.spark_types import shaped
from netdiag.traffic.aggregates.weights import times, weighed


def coverage(exchanges: DataFrame) -> DataFrame:
    """Table `coverage`."""
    sizes = F.coalesce("request_bytes", F.lit(0)) + F.coalesce("response_bytes", F.lit(0))
    found = (
        weighed(exchanges)
        .groupBy("api_name", "api_version", "decoded", "outcome")
        .agg(times().alias("exchanges"), F.sum(sizes).alias("bytes"))
    )
    return shaped(found, aggregate("coverage"))


def loss_kinds(losses: DataFrame) -> DataFrame:
    """Table `loss_kinds`."""
    found = losses.groupBy("kind").agg(
        F.count_distinct("connection").alias("connections"),
        F.sum("bytes").alias("bytes"),
        F.sum("times").alias("times"),
        F.min("detail").alias("detail"),
    )
    return shaped(found, aggregate("loss_kinds"))
