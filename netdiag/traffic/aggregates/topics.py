"""What goes through topics and their partitions."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from netdiag.traffic.aggregates.declared import aggregate
from netdiag.traffic.aggregates.expressions import FETCH, KEY, PRODUCE, count_if, span, topic_or_id, total
from netdiag.traffic.aggregates.spark_types import shaped

_SUMS = ("produced_records", "produced_bytes", "fetched_records", "fetched_bytes", "replicated_bytes", "errors")


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
    fetch, produced = F.col("api_key") == FETCH, F.col("api_key") == PRODUCE
    replicated = fetch & (F.coalesce("replica_id", F.lit(-1)) >= 0)
    fetched = fetch & ~replicated
    rows = partitions.withColumn("topic", topic_or_id()).where(F.col("topic").isNotNull())
    # First by exchange, so that each counts once however many of its partitions are of the topic.
    each = rows.groupBy(*keys, *KEY).agg(
        F.max(produced).alias("_produces"),
        F.max(fetched & (F.col("records") > 0)).alias("_fetches"),
        F.sum(F.when(produced, F.col("records"))).alias("produced_records"),
        F.sum(F.when(produced, F.col("record_bytes"))).alias("produced_bytes"),
        F.sum(F.when(fetched, F.col("records"))).alias("fetched_records"),
        F.sum(F.when(fetched, F.col("record_bytes"))).alias("fetched_bytes"),
        F.sum(F.when(replicated, F.col("record_bytes"))).alias("replicated_bytes"),
        count_if(F.col("error_code") != 0).alias("errors"),
        F.first("client_id").alias("client_id"),
        F.collect_set("partition").alias("_partitions"),
    )
    sums = each.groupBy(*keys).agg(
        count_if(F.col("_produces")).alias("produce_requests"),
        count_if(F.col("_fetches")).alias("fetches"),
        *[total(name).alias(name) for name in _SUMS],
        F.size(F.collect_set("client_id")).alias("clients"),
        F.size(F.array_distinct(F.flatten(F.collect_set("_partitions")))).alias("partitions"),
    )
    return sums.crossJoin(span(exchanges)).withColumns(
        {
            "produced_per_s": F.col("produced_bytes") / F.col("span"),
            "fetched_per_s": F.col("fetched_bytes") / F.col("span"),
        }
    )
