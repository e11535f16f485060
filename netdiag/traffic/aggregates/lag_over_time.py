"""How far groups are behind as time goes by: what is known at the end of every bucket in which something changes."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from netdiag.traffic.aggregates.declared import aggregate
from netdiag.traffic.aggregates.lag import group_offsets, log_ends
from netdiag.traffic.aggregates.over_time import placed
from netdiag.traffic.aggregates.spark_types import shaped
from netdiag.traffic.buckets import Buckets

SERIES = 8
_PLACE = ("topic", "partition")
_GROUP = ("group", *_PLACE)
_SERIES = ("group", "topic")


def lag_over_time(partitions: DataFrame, span: Buckets) -> DataFrame:
    """Table `lag_over_time`.

    A partition counts from the bucket on in which both its end and an offset of the group have been seen. What is
    summed over partitions are changes, so that no bucket has to have a row of every partition.
    """
    steps = _changes(_known(partitions, span))
    changed = steps.groupBy(*_SERIES, "bucket").agg(
        F.sum("_change").alias("_change"), F.sum(F.col("_is_first").cast("int")).alias("_more")
    )
    until = Window.partitionBy(*_SERIES).orderBy("bucket").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    lines = changed.withColumns({"lag_records": F.sum("_change").over(until), "partitions": F.sum("_more").over(until)})
    worst = lines.groupBy(*_SERIES).agg(F.max("lag_records").alias("_worst"))
    chosen = worst.orderBy(F.desc("_worst"), *_SERIES).limit(SERIES)
    return shaped(lines.join(F.broadcast(chosen), list(_SERIES)), aggregate("lag_over_time"))


def _known(partitions: DataFrame, span: Buckets) -> DataFrame:
    """By group, partition and bucket the last offset of the group and the highest end of the log; nulls."""
    offsets = (
        placed(group_offsets(partitions), "time", span)
        .groupBy(*_GROUP, "bucket")
        .agg(F.max_by("_offset", F.struct("time", "_offset")).alias("_offset"))
    )
    ends = placed(log_ends(partitions), "time", span).groupBy(*_PLACE, "bucket").agg(F.max("_end").alias("_end"))
    followed = ends.join(offsets.select(*_GROUP).distinct(), list(_PLACE))
    nothing = F.lit(None).cast("bigint")
    return (
        offsets.withColumn("_end", nothing)
        .unionByName(followed.withColumn("_offset", nothing))
        .groupBy(*_GROUP, "bucket")
        .agg(F.max("_offset").alias("_offset"), F.max("_end").alias("_end"))
    )


def _changes(known: DataFrame) -> DataFrame:
    order = Window.partitionBy(*_GROUP).orderBy("bucket")
    until = order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    behind = F.greatest(F.max("_end").over(until) - F.last("_offset", ignorenulls=True).over(until), F.lit(0))
    both = F.max("_end").over(until).isNotNull() & F.last("_offset", ignorenulls=True).over(until).isNotNull()
    lags = known.withColumn("_lag", F.when(both, behind)).where(F.col("_lag").isNotNull())
    before = F.lag("_lag").over(order)
    return lags.withColumns({"_change": F.col("_lag") - F.coalesce(before, F.lit(0)), "_is_first": before.isNull()})
