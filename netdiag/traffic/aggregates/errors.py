"""What brokers refuse, and whom they slow down."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from netdiag.traffic.aggregates.declared import aggregate
from netdiag.traffic.aggregates.expressions import KEY, error_name, host, topic_or_id
from netdiag.traffic.aggregates.spark_types import shaped
from netdiag.traffic.aggregates.weights import TIMES, times, weighed


def errors(exchanges: DataFrame, partitions: DataFrame, leaders: DataFrame) -> DataFrame:
    """Table `errors`: each code of an exchange once for every topic that has it, else once without a topic."""
    said = weighed(exchanges).select(
        *KEY, "response_time", "api_name", "broker", "client", "client_id", "error_code", TIMES
    )
    of_partitions = partitions.where(F.col("error_code") != 0).select(*KEY, topic_or_id().alias("topic"), "error_code")
    told = leaders.where(F.col("error_code") != 0)
    of_leaders = told.select(
        "connection", "correlation_id", F.col("time").alias("response_time"), topic_or_id().alias("topic"), "error_code"
    )
    with_topic = (
        said.drop("error_code")
        .join(of_partitions.distinct(), list(KEY))
        .unionByName(
            said.drop("error_code").join(of_leaders.distinct(), ["connection", "correlation_id", "response_time"])
        )
    )
    covered = with_topic.select(*KEY, "error_code").distinct()
    alone = said.where(F.col("error_code") != 0).join(covered, [*KEY, "error_code"], "left_anti")
    every = with_topic.unionByName(alone.withColumn("topic", F.lit(None).cast("string")))
    named = every.withColumn("api_name", F.coalesce("api_name", F.lit("unknown")))
    found = named.groupBy("api_name", "error_code", "topic", "broker").agg(
        times().alias("times"),
        F.count_distinct(host("client")).alias("clients"),
        F.min("client_id").alias("client_id"),
        F.min("time").alias("first_time"),
        F.max("time").alias("last_time"),
    )
    return shaped(found.withColumn("error", error_name("error_code")), aggregate("errors"))


def throttling(exchanges: DataFrame) -> DataFrame:
    """Table `throttling`."""
    slowed = weighed(exchanges).where((F.col("throttle_ms") > 0) & F.col("api_name").isNotNull())
    found = slowed.groupBy("client_id", host("client").alias("client"), "broker", "api_name").agg(
        times().alias("times"),
        F.sum(F.col("throttle_ms") * F.col(TIMES)).alias("throttle_ms"),
        F.max("throttle_ms").alias("longest_ms"),
    )
    return shaped(found, aggregate("throttling"))
