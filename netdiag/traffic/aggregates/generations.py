"""The generations of groups: of the classic protocol by JoinGroup and SyncGroup, of the new one by its epochs."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from netdiag.traffic.aggregates.expressions import JOIN_GROUP, SYNC_GROUP

CONSUMER_HEARTBEAT, SHARE_HEARTBEAT = 68, 76
NEW_PROTOCOLS = (CONSUMER_HEARTBEAT, SHARE_HEARTBEAT)
_KEYS = ("group", "generation")


def ok() -> Column:
    """Whether an event was answered without an error."""
    return F.coalesce("error_code", F.lit(0)) == 0


def joins(group_events: DataFrame) -> DataFrame:
    """The JoinGroup exchanges that brought somebody into a generation."""
    is_join = (F.col("api_key") == JOIN_GROUP) & ok() & (F.col("generation") >= 0)
    return group_events.where(is_join & F.col("group").isNotNull() & F.col("member_id").isNotNull())


def generations(group_events: DataFrame) -> DataFrame:
    """One row per group and generation; beside it what was before.

    `_since`: when the generation before was complete; `_until`: when everybody had joined this one; `_before`: who was
    in the generation before, null where the capture does not show it; `_revoked`: a member of the generation before got
    less than it owned.
    """
    found = _classic(group_events).unionByName(_new(group_events))
    order = Window.partitionBy("group").orderBy("generation")
    return found.withColumns(
        {
            "_since": F.lag("_until").over(order),
            "_before": F.lag("members").over(order),
            "_revoked": F.lag("_revokes").over(order),
        }
    )


def _classic(group_events: DataFrame) -> DataFrame:
    together = (
        joins(group_events)
        .groupBy(*_KEYS)
        .agg(
            F.max("protocol").alias("protocol"),
            F.min("time").alias("time"),
            F.max(F.coalesce("response_time", "time")).alias("_until"),
            F.max("leader").alias("leader"),
            F.sort_array(F.collect_set("member_id")).alias("_joined"),
            F.max_by(F.sort_array("members"), F.size("members")).alias("_listed"),
            F.sort_array(F.collect_set("instance_id")).alias("static_members"),
        )
    )
    answered = _synced(group_events)
    synced = answered.groupBy(*_KEYS).agg(F.max("response_time").alias("_synced"))
    less = joins(group_events).join(
        answered.select(*_KEYS, "member_id", F.col("assignment").alias("_got")), [*_KEYS, "member_id"]
    )
    revokes = less.groupBy(*_KEYS).agg(F.max(F.size(F.array_except("owned", "_got")) > 0).alias("_revokes"))
    found = together.join(synced, list(_KEYS), "left").join(revokes, list(_KEYS), "left")
    return found.select(
        *_KEYS,
        "protocol",
        "time",
        F.coalesce("_synced", "_until").alias("end_time"),
        F.when(F.col("_synced").isNotNull(), F.lit("stable")).otherwise(F.lit("incomplete")).alias("state"),
        "leader",
        F.when(F.size("_listed") > 0, F.col("_listed")).otherwise(F.col("_joined")).alias("members"),
        "static_members",
        "_until",
        F.coalesce("_revokes", F.lit(False)).alias("_revokes"),
        F.lit(False).alias("_is_new"),
    )


def _new(group_events: DataFrame) -> DataFrame:
    told = group_events.where(F.col("api_key").isin(*NEW_PROTOCOLS) & ok() & (F.col("generation") > 0))
    arrivals = told.where(F.col("group").isNotNull() & F.col("member_id").isNotNull()).groupBy(
        *_KEYS, "api_key", "member_id"
    )
    first = arrivals.agg(
        F.min(F.coalesce("response_time", "time")).alias("_first"), F.max("instance_id").alias("instance_id")
    )
    found = first.groupBy(*_KEYS, "api_key").agg(
        F.min("_first").alias("time"),
        F.max("_first").alias("end_time"),
        F.sort_array(F.collect_set("member_id")).alias("members"),
        F.sort_array(F.collect_set("instance_id")).alias("static_members"),
    )
    word = F.when(F.col("api_key") == SHARE_HEARTBEAT, F.lit("share")).otherwise(F.lit("consumer"))
    return found.select(
        *_KEYS,
        word.alias("protocol"),
        "time",
        "end_time",
        F.lit("stable").alias("state"),
        F.lit(None).cast("string").alias("leader"),
        "members",
        "static_members",
        F.col("time").alias("_until"),
        F.lit(False).alias("_revokes"),
        F.lit(True).alias("_is_new"),
    )


def _synced(group_events: DataFrame) -> DataFrame:
    return group_events.where((F.col("api_key") == SYNC_GROUP) & ok() & F.col("response_time").isNotNull())
