"""What goes through topics and their partitions."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from netdiag.traffic.aggregates.declared import aggregate
from netdiag.traffic.aggregates.expressions import FETCH, PRODUCE, count_if, span, topic_or_id
from netdiag.traffic.aggregates.spark_types import shaped


def topics(partitions: DataFrame, exchanges: DataFrame) -> DataFrame:
    """Table `topics`."""
    return shaped(_summed(partitions, exchanges, "topic"), aggregate("topics"))


def topic_partitions(partitions: DataFrame, exchanges: DataFrame) -> DataFrame:
    """Table `topic_partitions`."""
    sums = _summed(partitions, exchanges, "topic", "partition")
    whole = F.sum("produced_bytes").over(Window.partitionBy("topic"))
    share = F.when(whole > 0, F.col("produced_bytes") / whole)
    return shaped(sums.withColumn("share", share), aggregate("topic_partitions"))


def _summed(partitions: DataFrame, exchanges: DataFrame, *keys: str) -> DataFrame:
    produced = F.col("api_key") == PRODUCE
    replicated = (F.col("api_key") == FETCH) & (F.coalesce("replica_id", F.lit(-1)) >= 0)
    fetched = (F.col("api_key") == FETCH) & ~replicated
    carries = F.col("records") > 0
    exchange = F.struct("connection", "correlation_id", "time")
    rows = partitions.withColumn("topic", topic_or_id()).where(F.col("topic").isNotNull())
    sums = rows.groupBy(*keys).agg(
        F.count_distinct(F.when(produced, exchange)).alias("produce_requests"),
        F.sum(F.when(produced, F.col("records"))).alias("produced_records"),
        F.sum(F.when(produced, F.col("record_bytes"))).alias("produced_bytes"),
        F.count_distinct(F.when(fetched & carries, exchange)).alias("fetches"),
        F.sum(F.when(fetched, F.col("records"))).alias("fetched_records"),
        F.sum(F.when(fetched, F.col("record_bytes"))).alias("fetched_bytes"),
        F.sum(F.when(replicated, F.col("record_bytes"))).alias("replicated_bytes"),
        count_if(F.col("error_code") != 0).alias("errors"),
        F.count_distinct("client_id").alias("clients"),
        F.count_distinct("partition").alias("partitions"),
    )
    sums = sums.fillna(
        0, ["produced_records", "produced_bytes", "fetched_records", "fetched_bytes", "replicated_bytes"]
    )
    return sums.crossJoin(span(exchanges)).withColumns(
        {
            "produced_per_s": F.col("produced_bytes") / F.col("span"),
            "fetched_per_s": F.col("fetched_bytes") / F.col("span"),
        }
    )
