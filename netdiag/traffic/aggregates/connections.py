"""Who connects how: connections and their churn, software and versions, the health of TCP, relays, the worst ones."""

from functools import reduce
from operator import add

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from netdiag.traffic.aggregates.expressions import (
    beside,
    count_if,
    host,
    median,
    quantiles,
    seconds_between,
    shaped,
    times,
    total,
    weighed,
)
from netdiag.traffic.aggregates.over_time import failed
from netdiag.traffic.aggregates.requests import UNANSWERED
from netdiag.traffic.tables import aggregate

_OPENINGS = ("complete", "refused", "unanswered", "unreachable", "half", "unseen")
_ENDINGS = ("fin", "reset-by-client", "reset-by-broker", "open")
_SOME = 5


def churn(connections: DataFrame) -> DataFrame:
    """Table `churn`."""
    lived = seconds_between(F.col("first_time"), F.col("last_time"))
    whole = seconds_between(F.min("first_time"), F.max("last_time"))
    span = connections.agg(F.when(whole > 0, whole).alias("span"))
    keys = (host("client").alias("client"), "client_id", "broker", "protocol")
    found = (
        connections.withColumn("seconds", lived)
        .groupBy(*keys)
        .agg(
            F.count(F.lit(1)).alias("connections"),
            *[count_if(F.col("opening") == opening).alias(opening) for opening in _OPENINGS],
            *[count_if(F.col("ending") == ending).alias(ending.replace("-", "_")) for ending in _ENDINGS],
            median(F.col("seconds")).alias("seconds_p50"),
            F.max("seconds").alias("seconds_max"),
        )
    )
    per_minute = F.col("connections") * 60 / F.col("span")
    return shaped(beside(found, span).withColumn("per_minute", per_minute), aggregate("churn"))


def software(connections: DataFrame) -> DataFrame:
    """Table `software`."""
    spoken = connections.where(F.col("protocol") == "kafka")
    found = spoken.groupBy("client_software", "client_id").agg(
        F.count(F.lit(1)).alias("connections"), F.count_distinct(host("client")).alias("clients")
    )
    return shaped(found, aggregate("software"))


def api_versions(exchanges: DataFrame) -> DataFrame:
    """Table `api_versions`."""
    asked = weighed(exchanges).where(F.col("api_key").isNotNull() & F.col("api_version").isNotNull())
    found = asked.groupBy("api_name", "api_key", "api_version").agg(
        times().alias("requests"),
        F.count_distinct(host("client")).alias("clients"),
        F.slice(F.sort_array(F.collect_set("client_id")), 1, _SOME).alias("client_ids"),
    )
    return shaped(found, aggregate("api_versions"))


def tcp_health(connections: DataFrame) -> DataFrame:
    """Table `tcp_health`."""
    counted = ("retransmissions", "out_of_order", "duplicates", "zero_windows", "keep_alives")
    packets = F.col("client_packets") + F.col("broker_packets")
    found = connections.groupBy(host("client").alias("client"), "broker").agg(
        F.count(F.lit(1)).alias("connections"),
        F.sum(packets).alias("packets"),
        F.sum(F.col("client_bytes") + F.col("broker_bytes")).alias("bytes"),
        *[total(name).alias(name) for name in (*counted, "lost_bytes", "truncated_bytes")],
        count_if(F.col("ending").startswith("reset")).alias("resets"),
        *quantiles(F.col("handshake_ms"), "handshake", (50, 95)),
    )
    share = F.when(F.col("packets") > 0, F.col("retransmissions") / F.col("packets"))
    return shaped(found.withColumn("retransmitted_share", share), aggregate("tcp_health"))


def told(endpoints: DataFrame) -> DataFrame:
    """Table `told`."""
    # FindCoordinator does not tell the cluster, but the broker that answers is in one.
    told_there = Window.partitionBy("broker")
    first, last = F.min("cluster_id").over(told_there), F.max("cluster_id").over(told_there)
    found = (
        endpoints.where(F.col("host") != "")
        .withColumn("cluster_id", F.coalesce("cluster_id", F.when(first == last, first)))
        .groupBy("cluster_id", "node_id", "host", "port")
        .agg(
            F.slice(F.sort_array(F.collect_set("broker")), 1, 20).alias("brokers"),
            F.count_distinct(host("client")).alias("clients"),
            F.count(F.lit(1)).alias("times"),
            F.min("time").alias("first_time"),
            F.max("time").alias("last_time"),
        )
    )
    return shaped(found, aggregate("told"))


WORST = 400
_OPENED = ("complete", "unseen")


def worst_connections(connections: DataFrame, exchanges: DataFrame) -> DataFrame:
    """Table `worst_connections`, all connections; the question cuts it after its order."""
    wrong = exchanges.groupBy("connection").agg(
        count_if(failed()).alias("errors"), count_if(F.col("outcome") == UNANSWERED).alias("unanswered")
    )
    joined = connections.join(wrong, "connection", "left").withColumns(
        {
            "errors": F.coalesce("errors", F.lit(0)),
            "unanswered": F.coalesce("unanswered", F.lit(0)),
            "seconds": seconds_between(F.col("first_time"), F.col("last_time")),
        }
    )
    kinds = (
        ~F.col("opening").isin(*_OPENED),
        F.col("ending").startswith("reset"),
        *(F.col(name) > 0 for name in ("errors", "unanswered", "retransmissions", "zero_windows", "lost_bytes")),
    )
    trouble = reduce(add, (kind.cast("int") for kind in kinds))
    return shaped(joined.withColumn("trouble", trouble), aggregate("worst_connections"))


def without_relays(frame: DataFrame, connections: DataFrame) -> DataFrame:
    """The rows of a table with a column `connection` that belong to no relay; `connections` has `relay_of` filled."""
    relays = connections.where(F.col("relay_of").isNotNull()).select("connection")
    return frame.join(F.broadcast(relays), "connection", "left_anti").select(*frame.columns)
