"""Who connects how: connections and their churn, software, versions, the health of TCP."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from netdiag.traffic.aggregates.declared import aggregate
from netdiag.traffic.aggregates.expressions import count_if, host, median, quantiles, seconds_between, total
from netdiag.traffic.aggregates.spark_types import shaped
from netdiag.traffic.aggregates.weights import times, weighed

_OPENINGS = ("complete", "refused", "unanswered", "unreachable", "half", "unseen")
_ENDINGS = ("fin", "reset-by-client", "reset-by-broker", "open")
_SOME = 5


def churn(connections: DataFrame) -> DataFrame:
    """Table `churn`."""
    lived = seconds_between(F.col("first_time"), F.col("last_time"))
    whole = seconds_between(F.min("first_time"), F.max("last_time"))
    span = F.broadcast(connections.agg(F.when(whole > 0, whole).alias("span")))
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
    return shaped(found.crossJoin(span).withColumn("per_minute", per_minute), aggregate("churn"))


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
    found = (
        endpoints.where(F.col("host") != "")
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
