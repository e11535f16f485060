"""What happens when, in buckets: bounded by their number and by the series that are told apart, whatever the capture
holds."""

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from netdiag.traffic.aggregates.expressions import count_if, error_name, quantiles, shaped, topic_or_id, total
from netdiag.traffic.aggregates.requests import UNANSWERED, service
from netdiag.traffic.analysis import Buckets
from netdiag.traffic.tables import aggregate

KINDS_OF_ERROR, PARTITIONS, BROKERS = 7, 30, 15
# Steps of the protocol, not failures: a version that is agreed on in a second try, a member that is given its id.
_API_VERSIONS, _UNSUPPORTED_VERSION, _MEMBER_ID_REQUIRED = 18, 35, 79
_NOT_OPENED = ("unanswered", "unreachable", "half")


def moments(tables: Mapping[str, DataFrame]) -> DataFrame:
    """One row with the microseconds of the first and of the last that there is to draw; nulls where nothing is."""
    exchanges = tables["exchanges"].select("time", F.col("time").alias("_until"))
    connections = tables["connections"].select(F.col("first_time").alias("time"), F.col("last_time").alias("_until"))
    both = exchanges.unionByName(connections)
    return both.agg(F.unix_micros(F.min("time")).alias("first"), F.unix_micros(F.max("_until")).alias("last"))


def traffic_over_time(exchanges: DataFrame, span: Buckets) -> DataFrame:
    """Table `traffic_over_time`."""
    p50, p95, p99, most = quantiles(service(), "service")
    found = (
        placed(exchanges, "time", span)
        .groupBy("bucket")
        .agg(
            F.count("request_bytes").alias("requests"),
            F.count("response_bytes").alias("responses"),
            total("request_bytes").alias("request_bytes"),
            total("response_bytes").alias("response_bytes"),
            count_if(failed()).alias("errors"),
            count_if(F.col("outcome") == UNANSWERED).alias("unanswered"),
            count_if(F.col("throttle_ms") > 0).alias("throttled"),
            *(p50, p95, p99, most),
        )
    )
    return shaped(found, aggregate("traffic_over_time"))


def errors_over_time(exchanges: DataFrame, span: Buckets) -> DataFrame:
    """Table `errors_over_time`."""
    wrong = exchanges.where(failed() | (F.col("outcome") == UNANSWERED))
    kind = F.when(failed(), error_name("error_code")).otherwise(F.lit(UNANSWERED))
    named = wrong.withColumns({"error": kind, "api_name": F.coalesce("api_name", F.lit("unknown"))})
    counted = placed(named, "time", span).groupBy("bucket", "api_name", "error").agg(F.count(F.lit(1)).alias("times"))
    return shaped(most_of(counted, ("api_name", "error"), ("times",), KINDS_OF_ERROR), aggregate("errors_over_time"))


def connections_over_time(connections: DataFrame, span: Buckets) -> DataFrame:
    """Table `connections_over_time`."""
    opening, nothing = F.col("opening"), F.lit(0)
    begun = placed(connections, "first_time", span).select(
        "bucket",
        (opening == "complete").cast("int").alias("opened"),
        (opening == "refused").cast("int").alias("refused"),
        opening.isin(*_NOT_OPENED).cast("int").alias("unanswered"),
        nothing.alias("resets"),
    )
    reset = connections.where(F.col("ending").startswith("reset") & (opening != "refused"))
    ended = placed(reset, "last_time", span).select(
        "bucket", *(nothing.alias(name) for name in ("opened", "refused", "unanswered")), F.lit(1).alias("resets")
    )
    names = ("opened", "refused", "unanswered", "resets")
    found = begun.unionByName(ended).groupBy("bucket").agg(*[total(name).alias(name) for name in names])
    return shaped(found, aggregate("connections_over_time"))


def partitions_over_time(partitions: DataFrame, span: Buckets) -> DataFrame:
    """Table `partitions_over_time`."""
    named = partitions.withColumn("topic", topic_or_id()).where(F.col("topic").isNotNull())
    counted = (
        placed(named, "time", span)
        .groupBy("bucket", "topic", "partition")
        .agg(
            total("record_bytes").alias("bytes"),
            F.count(F.lit(1)).alias("requests"),
            count_if(F.col("error_code") != 0).alias("errors"),
        )
    )
    found = most_of(counted, ("topic", "partition"), ("bytes", "requests", "errors"), PARTITIONS)
    return shaped(found, aggregate("partitions_over_time"))


def failed() -> Column:
    """Whether an exchange was answered with an error that is no step of the protocol."""
    code = F.col("error_code")
    step = ((F.col("api_key") == _API_VERSIONS) & (code == _UNSUPPORTED_VERSION)) | (code == _MEMBER_ID_REQUIRED)
    return F.coalesce((code != 0) & ~F.coalesce(step, F.lit(False)), F.lit(False))


def brokers_over_time(exchanges: DataFrame, span: Buckets) -> DataFrame:
    """Table `brokers_over_time`. Percentiles are no sums: the rest are one broker before anything is counted."""
    asked = exchanges.where(F.col("request_bytes").isNotNull())
    most = asked.groupBy("broker").agg(F.count(F.lit(1)).alias("_asked")).orderBy(F.desc("_asked"), "broker")
    chosen = most.limit(BROKERS).select("broker", F.lit(True).alias("_chosen"))
    told = placed(asked, "time", span).join(F.broadcast(chosen), "broker", "left")
    (p99, _) = quantiles(service(), "service", (99,))
    found = (
        told.withColumn("broker", F.when(F.col("_chosen"), F.col("broker")))
        .groupBy("bucket", "broker")
        .agg(
            F.count(F.lit(1)).alias("requests"),
            count_if(failed() | (F.col("outcome") == UNANSWERED)).alias("failures"),
            p99,
        )
    )
    return shaped(found, aggregate("brokers_over_time"))


def placed(frame: DataFrame, time: str, span: Buckets) -> DataFrame:
    """Rows with the number of their bucket; those beside the span are left out."""
    number = F.floor((F.unix_micros(time) - F.lit(span.first)) / F.lit(span.length)).cast("int")
    return frame.withColumn("bucket", number).where(F.col("bucket").between(0, span.count - 1))


def most_of(counted: DataFrame, keys: tuple[str, ...], sums: tuple[str, ...], most: int) -> DataFrame:
    """Sums by bucket and keys of the series that have most of the first sum, then of the others; the rest of them as
    one, without keys."""
    order: list[Column] = [F.desc(f"_{name}") for name in sums]
    wholes = counted.groupBy(*keys).agg(*[F.sum(name).alias(f"_{name}") for name in sums])
    chosen = wholes.orderBy(*order, *keys).limit(most).select(*keys, F.lit(True).alias("_chosen"))
    told = counted.join(F.broadcast(chosen), list(keys), "left")
    own = {key: F.when(F.col("_chosen"), F.col(key)) for key in keys}
    return told.withColumns(own).groupBy("bucket", *keys).agg(*[F.sum(name).alias(name) for name in sums])
