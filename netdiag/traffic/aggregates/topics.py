"""What goes through topics and their partitions."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from netdiag.traffic.aggregates.declared import aggregate
from netdiag.traffic.aggregates.expressions import FETCH, KEY, PRODUCE, span, topic_or_id, total
from netdiag.traffic.aggregates.spark_types import shaped
from netdiag.traffic.aggregates.weights import TIMES, times_if, weighed
from netdiag.traffic.folds.joined import FIRST_OF_PARTITION, FIRST_OF_TOPIC

_SUMS = ("produced_records", "produced_bytes", "fetched_records", "fetched_bytes", "replicated_bytes", "errors")

_COUNTS = ("produce_requests", "fetches")
# What one client asks of one partition is summed up first.
_EACH = ("topic", "partition", "client_id")


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
    rows = weighed(partitions).withColumn("topic", topic_or_id()).where(F.col("topic").isNotNull())
    sums = _of_clients(rows.groupBy(*_EACH).agg(*_sums(produced, fetched, replicated)), keys)
    part = F.when(produced, F.lit("produce_requests")).when(fetched & (F.col("records") > 0), F.lit("fetches"))
    counts = (
        _once(rows.withColumn("_part", part).where(F.col("_part").isNotNull()), keys)
        .groupBy(*[F.col(key).alias(f"_{key}") for key in keys])
        .agg(*[times_if(F.col("_part") == name).alias(name) for name in _COUNTS])
    )
    same = [F.col(key).eqNullSafe(F.col(f"_{key}")) for key in keys]
    sums = sums.join(counts, same, "left").na.fill(0, list(_COUNTS))
    return sums.crossJoin(span(exchanges)).withColumns(
        {
            "produced_per_s": F.col("produced_bytes") / F.col("span"),
            "fetched_per_s": F.col("fetched_bytes") / F.col("span"),
        }
    )


def _once(asked: DataFrame, keys: tuple[str, ...]) -> DataFrame:
    """An exchange counts once, however many of its partitions are of the topic."""
    first = FIRST_OF_PARTITION if "partition" in keys else FIRST_OF_TOPIC
    if first in asked.columns:
        return asked.withColumn(TIMES, F.col(first))
    return asked.select(*keys, "_part", *KEY).distinct().withColumn(TIMES, F.lit(1).cast("bigint"))


def _sums(produced: Column, fetched: Column, replicated: Column) -> list[Column]:
    return [
        F.sum(F.when(produced, F.col("records"))).alias("produced_records"),
        F.sum(F.when(produced, F.col("record_bytes"))).alias("produced_bytes"),
        F.sum(F.when(fetched, F.col("records"))).alias("fetched_records"),
        F.sum(F.when(fetched, F.col("record_bytes"))).alias("fetched_bytes"),
        F.sum(F.when(replicated, F.col("record_bytes"))).alias("replicated_bytes"),
        times_if(F.col("error_code") != 0).alias("errors"),
    ]


def _of_clients(each: DataFrame, keys: tuple[str, ...]) -> DataFrame:
    return each.groupBy(*keys).agg(
        *[total(name).alias(name) for name in _SUMS],
        F.size(F.collect_set("client_id")).alias("clients"),
        F.size(F.collect_set(F.col("partition"))).alias("partitions"),
    )
