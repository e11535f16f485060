"""What clients ask and what comes of it: how much was understood, rates, latencies, errors, throttling."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from netdiag.traffic.aggregates.expressions import (
    FETCH,
    JOIN_GROUP,
    KEY,
    SYNC_GROUP,
    beside,
    error_name,
    host,
    meeting,
    quantiles,
    shaped,
    span,
    times,
    times_if,
    topic_or_id,
    total,
    weighed,
)
from netdiag.traffic.folds import TIMES
from netdiag.traffic.tables import aggregate


def coverage(exchanges: DataFrame) -> DataFrame:
    """Table `coverage`."""
    sizes = F.coalesce("request_bytes", F.lit(0)) + F.coalesce("response_bytes", F.lit(0))
    found = (
        weighed(exchanges)
        .groupBy("api_name", "api_version", "decoded", "outcome")
        .agg(times().alias("exchanges"), F.sum(sizes).alias("bytes"))
    )
    return shaped(found, aggregate("coverage"))


def loss_kinds(losses: DataFrame) -> DataFrame:
    """Table `loss_kinds`."""
    found = losses.groupBy("kind").agg(
        F.count_distinct("connection").alias("connections"),
        F.sum("bytes").alias("bytes"),
        F.sum("times").alias("times"),
        F.min("detail").alias("detail"),
    )
    return shaped(found, aggregate("loss_kinds"))


UNANSWERED = "unanswered"


def rates(exchanges: DataFrame) -> DataFrame:
    """Table `rates`."""
    faces = F.array(
        _face("api", F.col("api_name")),
        _face("client", host("client")),
        _face("client_id", F.col("client_id")),
        _face("broker", F.col("broker")),
    )
    counted = ("request_bytes", "response_bytes", "records", "record_bytes")
    # What has the same four faces is one row before it is given four times.
    alike = (
        weighed(exchanges)
        .groupBy("api_name", "client", "client_id", "broker")
        .agg(
            times_if(F.col("request_bytes").isNotNull()).alias("requests"),
            times_if(F.col("response_bytes").isNotNull()).alias("responses"),
            *[total(name).alias(name) for name in counted],
        )
    )
    summed = ("requests", "responses", *counted)
    rows = alike.select(F.inline(faces), *summed).where(F.col("value").isNotNull())
    sums = rows.groupBy("by", "value").agg(*[F.sum(name).alias(name) for name in summed])
    bytes_together = F.col("request_bytes") + F.col("response_bytes")
    with_span = beside(sums, span(exchanges))
    found = with_span.withColumns(
        {"requests_per_s": F.col("requests") / F.col("span"), "bytes_per_s": bytes_together / F.col("span")}
    )
    return shaped(found, aggregate("rates"))


def timeline(exchanges: DataFrame, seconds: int = 1) -> DataFrame:
    """Table `timeline`, in intervals of so many seconds; those without an exchange are left out."""
    begin = F.timestamp_seconds(F.floor(F.unix_micros("time") / F.lit(seconds * 1_000_000)) * F.lit(seconds))
    latency, *_ = quantiles(F.col("latency_ms"), "latency", (95,), TIMES)
    found = (
        weighed(exchanges)
        .groupBy(begin.alias("time"))
        .agg(
            F.lit(seconds).alias("seconds"),
            times_if(F.col("request_bytes").isNotNull()).alias("requests"),
            times_if(F.col("response_bytes").isNotNull()).alias("responses"),
            total("request_bytes").alias("request_bytes"),
            total("response_bytes").alias("response_bytes"),
            times_if(F.col("error_code") != 0).alias("errors"),
            times_if(F.col("outcome") == UNANSWERED).alias("unanswered"),
            latency,
        )
    )
    return shaped(found, aggregate("timeline"))


def _face(by: str, value: Column) -> Column:
    return F.struct(F.lit(by).alias("by"), value.alias("value"))


def latency(exchanges: DataFrame) -> DataFrame:
    """Table `latency`."""
    asked = weighed(exchanges).where(F.col("api_name").isNotNull())
    whole = F.col("latency_ms")
    found = asked.groupBy("api_name", "broker").agg(
        times_if(F.col("request_bytes").isNotNull()).alias("requests"),
        times_if(whole.isNotNull()).alias("answered"),
        times_if(F.col("outcome") == UNANSWERED).alias("unanswered"),
        *quantiles(whole, "latency", times=TIMES),
        times_if(F.coalesce(_for_members() | _long_poll(), F.lit(False)) & whole.isNotNull()).alias("waiting"),
        *quantiles(service(), "service", times=TIMES),
    )
    return shaped(found, aggregate("latency"))


def service() -> Column:
    """Milliseconds of an exchange less the waiting that was asked for; null where all of it is waiting for members."""
    whole = F.col("latency_ms")
    return (
        F.when(_for_members(), F.lit(None))
        .when(_long_poll() & (whole >= F.col("wait_ms")), whole - F.col("wait_ms"))
        .otherwise(whole)
    )


def _for_members() -> Column:
    return F.col("api_key").isin(JOIN_GROUP, SYNC_GROUP)


def _long_poll() -> Column:
    return (F.col("api_key") == FETCH) & F.col("empty") & (F.col("wait_ms") > 0)


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
    answers = said.drop("error_code")
    with_topic = meeting(answers, of_partitions.distinct(), KEY).unionByName(
        meeting(answers, of_leaders.distinct(), ["connection", "correlation_id", "response_time"])
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
