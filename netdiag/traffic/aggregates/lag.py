"""How far groups are behind, at the end and as time goes by, and what they committed."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from netdiag.traffic.aggregates.expressions import (
    FETCH,
    KEY,
    LIST_OFFSETS,
    PRODUCE,
    beside,
    hashing,
    meeting,
    shaped,
    times,
    times_if,
    topic_or_id,
    weighed,
)
from netdiag.traffic.aggregates.over_time import placed
from netdiag.traffic.analysis import Buckets
from netdiag.traffic.folds import LOG_END
from netdiag.traffic.tables import aggregate

OFFSET_COMMIT, OFFSET_FETCH, TXN_OFFSET_COMMIT = 8, 9, 28
_LATEST = -1
_PLACE = ["topic", "partition"]
_GROUP = ["group", *_PLACE]


def commits(partitions: DataFrame) -> DataFrame:
    """Table `commits`."""
    rows = weighed(_commits(partitions))
    worked = F.when(_ok(), F.col("request_offset"))
    # Of one time, too, the same one is first whatever the order of rows.
    order = F.when(_ok(), F.struct("time", "request_offset"))
    found = rows.groupBy(*_GROUP).agg(
        times().alias("commits"),
        times_if(~_ok()).alias("failed"),
        F.min_by(worked, order).alias("first_offset"),
        F.max_by(worked, order).alias("last_offset"),
        F.min("time").alias("first_time"),
        F.max("time").alias("last_time"),
        F.max_by("client_id", "time").alias("client_id"),
        hashing(),
    )
    return shaped(found, aggregate("commits"))


def lag(partitions: DataFrame, batches: DataFrame, exchanges: DataFrame) -> DataFrame:
    """Table `lag`."""
    end = F.max(F.coalesce("response_time", "time"))
    now = exchanges.agg(F.unix_micros(end).alias("_now"))
    behind = (
        _committed(partitions)
        .join(_ends(partitions), _PLACE, "left")
        .withColumn("lag_records", _positive(F.col("end_offset") - F.col("committed_offset")))
    )
    aged = beside(behind.join(_ages(behind, _placed(batches, partitions)), _GROUP, "left"), now)
    nothing = F.col("lag_records") == 0
    found = aged.withColumns(
        {
            "lag_ms": F.when(nothing, F.lit(0.0)).otherwise(_age("_stamp")),
            "lag_at_least_ms": F.when(~nothing & F.col("_stamp").isNull(), _age("_later")),
        }
    )
    return shaped(found, aggregate("lag"))


def group_offsets(partitions: DataFrame) -> DataFrame:
    """Every offset of a group and partition that was committed, or told by OffsetFetch: `_offset` at `time`."""
    own = _commits(partitions).where(_ok()).withColumn("_offset", F.col("request_offset"))
    asked = (F.col("api_key") == OFFSET_FETCH) & F.col("group").isNotNull() & (F.col("response_offset") >= 0)
    told = _named(partitions).where(asked).withColumn("_offset", F.col("response_offset"))
    return own.unionByName(told)


def log_ends(partitions: DataFrame) -> DataFrame:
    """Every end of a partition's log that some answer shows: `_end` at `time`."""
    named = _named(partitions)
    if LOG_END in partitions.columns:
        return named.where(F.col(LOG_END) >= 0).withColumn("_end", F.col(LOG_END))
    api = F.col("api_key")
    end = (
        F.when(api == FETCH, F.col("high_watermark"))
        .when((api == LIST_OFFSETS) & (F.col("timestamp") == _LATEST), F.col("response_offset"))
        .when((api == PRODUCE) & (F.col("response_offset") >= 0), F.col("response_offset") + F.col("records"))
    )
    return named.where(_ok()).withColumn("_end", end).where(F.col("_end") >= 0)


def _commits(partitions: DataFrame) -> DataFrame:
    of_groups = F.col("api_key").isin(OFFSET_COMMIT, TXN_OFFSET_COMMIT) & F.col("group").isNotNull()
    return _named(partitions).where(of_groups & (F.col("request_offset") >= 0))


def _committed(partitions: DataFrame) -> DataFrame:
    """The last offset of every group and partition."""
    last = F.max(F.struct("time", "_offset", "client_id")).alias("_last")
    return (
        group_offsets(partitions)
        .groupBy(*_GROUP)
        .agg(last, hashing())
        .select(
            *_GROUP,
            F.col("_last._offset").alias("committed_offset"),
            F.col("_last.time").alias("committed_time"),
            F.col("_last.client_id").alias("client_id"),
        )
    )


def _ends(partitions: DataFrame) -> DataFrame:
    """The highest end of the log that some answer shows."""
    return log_ends(partitions).groupBy(*_PLACE).agg(F.max("_end").alias("end_offset"))


def _placed(batches: DataFrame, partitions: DataFrame) -> DataFrame:
    """Batches with their place in the log: fetched ones know it, produced ones are told it by the answer."""
    if "_base" in batches.columns:
        return batches
    named = _named(batches).where(~F.coalesce("control", F.lit(False)) & (F.col("max_timestamp") >= 0))
    produced = _named(partitions).where((F.col("api_key") == PRODUCE) & _ok() & (F.col("response_offset") >= 0))
    place = produced.select(*KEY, *_PLACE, F.col("response_offset").alias("_base"))
    sent = named.where(F.col("api_key") == PRODUCE).join(place, [*KEY, *_PLACE])
    got = named.where(F.col("api_key") == FETCH).withColumn("_base", F.col("base_offset"))
    stamped = F.when(F.col("log_append_time") | (F.col("first_timestamp") < 0), F.col("max_timestamp"))
    delta = F.coalesce("last_offset_delta", F.col("records") - 1, F.lit(0))
    return got.unionByName(sent).select(
        *_PLACE,
        "_base",
        (F.col("_base") + delta).alias("_last"),
        F.coalesce(stamped, "first_timestamp", "max_timestamp").alias("_first_stamp"),
        F.col("max_timestamp").alias("_last_stamp"),
    )


def _ages(behind: DataFrame, placed: DataFrame) -> DataFrame:
    """For every group and partition that is behind: the timestamp of its next record, and of the first later batch."""
    waiting = behind.where(F.col("lag_records") > 0).select(*_GROUP, "committed_offset")
    met = meeting(waiting, placed, _PLACE).where(F.col("_last") >= F.col("committed_offset"))
    inside = F.col("_base") <= F.col("committed_offset")
    # Records of a batch are spread over its time evenly, as far as anybody can tell.
    part = (F.col("committed_offset") - F.col("_base")) / F.greatest(F.col("_last") - F.col("_base"), F.lit(1))
    stamp = F.col("_first_stamp") + part * (F.col("_last_stamp") - F.col("_first_stamp"))
    return met.groupBy(*_GROUP).agg(
        F.max(F.when(inside, stamp)).alias("_stamp"),
        F.min_by("_first_stamp", F.when(~inside, F.struct("_base", "_first_stamp"))).alias("_later"),
        hashing(),
    )


def _age(stamp: str) -> Column:
    return _positive(F.col("_now") / 1000 - F.col(stamp))


def _positive(number: Column) -> Column:
    """At least 0, and null where it is null: `greatest` overlooks nulls."""
    return F.when(number < 0, F.lit(0)).otherwise(number)


def _named(frame: DataFrame) -> DataFrame:
    return frame.withColumn("topic", topic_or_id()).where(F.col("topic").isNotNull())


def _ok() -> Column:
    return F.coalesce("error_code", F.lit(0)) == 0


SERIES = 8
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
    followed = ends.join(offsets.select(*_GROUP).distinct(), _PLACE)
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
