"""How much of what: requests and bytes by api, client and broker, and over time."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from netdiag.traffic.aggregates.declared import aggregate
from netdiag.traffic.aggregates.expressions import host, quantiles, span, total
from netdiag.traffic.aggregates.spark_types import shaped
from netdiag.traffic.aggregates.weights import TIMES, times_if, weighed

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
    with_span = sums.crossJoin(span(exchanges))
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
