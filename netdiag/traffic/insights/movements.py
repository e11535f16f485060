"""Insights about what should stay where it is: group members, coordinators, leaders."""

from collections.abc import Sequence

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from netdiag.traffic.aggregates.expressions import weighed
from netdiag.traffic.facts import GroupStep, Moves
from netdiag.traffic.insights.shape import (
    CLIENT,
    Tables,
    nanoseconds,
    shaped,
    sightings,
    topic_name,
    with_client,
)

_JOIN_GROUP, _LEAVE_GROUP, _CONSUMER_GROUP_HEARTBEAT = 11, 13, 68
# Groups with fewer generations are not judged; those with most are looked at, at so many steps each.
_GENERATIONS = 4
_GROUPS = 10
_STEPS = 200


def group_steps(tables: Tables) -> DataFrame:
    """The steps of the groups that had the most generations; the earliest steps of each."""
    # The answer's file is that of its connection.
    ends = tables["connections"].select("connection", "file")
    events = with_client(tables["group_events"].where(F.col("group").isNotNull()).join(ends, "connection"))
    joined = F.col("api_key").isin(_JOIN_GROUP, _CONSUMER_GROUP_HEARTBEAT) & (F.col("generation") >= 0)
    restless = (
        events.where(joined & (F.col("error_code") == 0))
        .groupBy("group")
        .agg(F.countDistinct("generation").alias("generations"))
        .where(F.col("generations") >= _GENERATIONS)
        .orderBy(F.col("generations").desc(), "group")
        .limit(_GROUPS)
        .select("group")
    )
    # Who leaves stands in a list; joining and leaving are steps of their own, heartbeats of a generation are one.
    leaver = F.try_element_at("members", F.lit(1))
    member = F.when(F.col("api_key") == _LEAVE_GROUP, F.coalesce("member_id", leaver)).otherwise(F.col("member_id"))
    single = F.col("api_key").isin(_JOIN_GROUP, _LEAVE_GROUP) | (F.col("generation") < 0)
    alone = F.when(single, F.col("correlation_id"))
    steps = (
        events.join(F.broadcast(restless), "group")
        .withColumns({"member_id": member, "alone": alone})
        .groupBy(
            "group", "api_key", "client_host", "member_id", "generation", "error_code", "instance_id", "reason", "alone"
        )
        .agg(
            *sightings(),
            F.max(nanoseconds(F.col("response_time"))).alias("answered"),
            F.max("leader").alias("leader"),
            F.max("members").alias("members"),
            F.max("session_timeout_ms").alias("session_timeout_ms"),
            F.max("rebalance_timeout_ms").alias("rebalance_timeout_ms"),
        )
        .na.fill({"error_code": 0})
    )
    earliest = Window.partitionBy("group").orderBy(F.col("first.time"), "api_key", "member_id")
    kept = steps.withColumn("place", F.row_number().over(earliest)).where(F.col("place") <= _STEPS)
    return shaped(kept, GroupStep, most=[F.col("first.time"), F.col("api_key"), F.col("member_id")])


def moves(tables: Tables) -> DataFrame:
    """Coordinators and leaders that moved, with how often."""
    frame = _coordinators(tables).unionByName(_leaders(tables))
    return shaped(frame, Moves, most=[F.col("times").desc(), F.col("kind"), F.col("key")])


def _coordinators(tables: Tables) -> DataFrame:
    """Per client: a group and a transactional id of one name have coordinators of their own."""
    ends = tables["connections"].select("connection", "file")
    told = with_client(tables["endpoints"].where(F.col("coordinator_key").isNotNull()).join(ends, "connection"))
    keyed = told.withColumn("key", F.col("coordinator_key"))
    order = ("time", "connection", "correlation_id", "node_id")
    return _moved(keyed, (*CLIENT, "key"), order).withColumn("kind", F.lit("coordinator"))


def _leaders(tables: Tables) -> DataFrame:
    """Per cluster, in the order of the leader epochs, as old news travels; leaders without an epoch are left out."""
    clusters = tables["endpoints"].groupBy("connection").agg(F.max("cluster_id").alias("cluster_id"))
    ends = tables["connections"].select("connection", "client", "broker", "client_id", "file")
    known = F.col("partition").isNotNull() & (F.col("leader_id") >= 0) & (F.col("leader_epoch") >= 0)
    rows = topic_name(tables["leaders"]).where(known)
    keyed = rows.withColumn("key", F.concat_ws("-", "topic", "partition")).withColumnRenamed("leader_id", "node_id")
    # Each epoch once, with who was told of it first.
    once = keyed.groupBy("key", "topic_id", "leader_epoch", "node_id").agg(
        F.min(F.struct("time", "connection")).alias("told")
    )
    placed = once.select("*", "told.*").drop("told").join(ends, "connection").join(clusters, "connection", "left")
    order = ("leader_epoch", "time", "connection", "node_id")
    return _moved(placed, ("cluster_id", "topic_id", "key"), order).withColumn("kind", F.lit("leader"))


def _moved(rows: DataFrame, keys: Sequence[str], order: Sequence[str]) -> DataFrame:
    """Rows with `node_id`: how often it differs from that of the row before, in an order without doubt."""
    rows = weighed(rows)
    before = F.lag("node_id").over(Window.partitionBy(*keys).orderBy(*order))
    steps = rows.withColumn("before", before).where(F.col("before").isNotNull() & (F.col("before") != F.col("node_id")))
    first, last, times = sightings()
    nodes = F.array_distinct(F.concat(F.collect_list("before"), F.collect_list("node_id")))
    found = steps.groupBy(*keys).agg(first, last, times, nodes.alias("nodes"))
    returns = F.col("times") - (F.size("nodes") - 1)
    return found.select("key", "first", "last", "times", "nodes", returns.alias("returns"))
