"""The timeline of groups: their rebalances, and who got what."""

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from netdiag.traffic.aggregates.declared import aggregate
from netdiag.traffic.aggregates.expressions import SYNC_GROUP, ms_between
from netdiag.traffic.aggregates.generations import NEW_PROTOCOLS, generations, joins, ok
from netdiag.traffic.aggregates.spark_types import shaped
from netdiag.traffic.aggregates.triggers import triggers

_KEYS = ["group", "generation"]


def rebalances(group_events: DataFrame, leaders: DataFrame) -> DataFrame:
    """Table `rebalances`."""
    rows = _found(generations(group_events))
    causes = triggers(rows, group_events, leaders).withColumnRenamed("member_id", "trigger_member")
    named = causes.join(_members(group_events), ["group", "trigger_member"], "left")
    before = F.coalesce("_before", F.col("members"))
    found = rows.join(named, _KEYS, "left").withColumns(
        {
            "trigger": F.coalesce("trigger", F.lit("unknown")),
            "duration_ms": ms_between(F.col("time"), F.col("end_time")),
            "joined": F.size(F.array_except("members", before)),
            "left": F.size(F.array_except(before, "members")),
        }
    )
    return shaped(found, aggregate("rebalances"))


def assignments(group_events: DataFrame) -> DataFrame:
    """Table `assignments`."""
    gives = F.col("api_key").isin(SYNC_GROUP, *NEW_PROTOCOLS) & ok() & F.col("assignment").isNotNull()
    given = group_events.where(gives & F.col("group").isNotNull() & F.col("member_id").isNotNull())
    leaders = joins(group_events).groupBy(*_KEYS).agg(F.max("leader").alias("_leader"))
    told = F.coalesce("response_time", "time")
    latest = given.groupBy(*_KEYS, "member_id").agg(
        F.max("instance_id").alias("instance_id"),
        F.max("client_id").alias("client_id"),
        F.max_by("client", told).alias("client"),
        F.max_by(F.sort_array("assignment"), told).alias("assignment"),
        F.max(told).alias("time"),
    )
    leads = F.coalesce(F.col("_leader") == F.col("member_id"), F.lit(False))
    found = latest.where(F.col("generation") >= 0).join(leaders, _KEYS, "left").withColumn("is_leader", leads)
    return shaped(found, aggregate("assignments"))


def _found(generations: DataFrame) -> DataFrame:
    """The same rows, found: there are few, and how to find them would be planned again wherever they are asked.

    They lie here and not with an executor, which may be lost.
    """
    rows = generations.toArrow()
    whole = rows if rows.num_rows else pa.Table.from_pylist([], rows.schema)
    return generations.sparkSession.createDataFrame(whole, generations.schema)


def _members(group_events: DataFrame) -> DataFrame:
    named = group_events.where(F.col("member_id").isNotNull() & F.col("group").isNotNull())
    return named.groupBy("group", F.col("member_id").alias("trigger_member")).agg(
        F.min_by("client", "time").alias("trigger_client"), F.min_by("client_id", "time").alias("trigger_client_id")
    )
