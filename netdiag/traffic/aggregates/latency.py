"""How long answers take: service time, with the waiting that was asked for told apart."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from netdiag.traffic.aggregates.declared import aggregate
from netdiag.traffic.aggregates.expressions import FETCH, JOIN_GROUP, SYNC_GROUP, count_if, quantiles
from netdiag.traffic.aggregates.rates import UNANSWERED
from netdiag.traffic.aggregates.spark_types import shaped


def latency(exchanges: DataFrame) -> DataFrame:
    """Table `latency`."""
    asked = exchanges.where(F.col("api_name").isNotNull())
    whole = F.col("latency_ms")
    for_members = F.col("api_key").isin(JOIN_GROUP, SYNC_GROUP)
    long_poll = (F.col("api_key") == FETCH) & F.col("empty") & (F.col("wait_ms") > 0)
    service = (
        F.when(for_members, F.lit(None))
        .when(long_poll & (whole >= F.col("wait_ms")), whole - F.col("wait_ms"))
        .otherwise(whole)
    )
    found = asked.groupBy("api_name", "broker").agg(
        F.count("request_bytes").alias("requests"),
        F.count("latency_ms").alias("answered"),
        count_if(F.col("outcome") == UNANSWERED).alias("unanswered"),
        *quantiles(whole, "latency"),
        count_if(F.coalesce(for_members | long_poll, F.lit(False)) & whole.isNotNull()).alias("waiting"),
        *quantiles(service, "service"),
    )
    return shaped(found, aggregate("latency"))
