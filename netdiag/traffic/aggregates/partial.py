"""The level `latencies` added up: who asks what, how often, how slow, without a row per exchange."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from netdiag.traffic.histogram import PRECISION

KEYS = ("api_name", "client", "client_id", "broker")
SUMS = ("requests", "responses", "unanswered", "errors", "request_bytes", "response_bytes")
_NS_PER_MS = 1e6
_PERCENTS = (50, 95, 99)


def merged(latencies: DataFrame) -> DataFrame:
    """The partial rows of all tasks, one per key and bucket."""
    sums = [F.sum(name).alias(name) for name in (*SUMS, "latency_ns")]
    return latencies.groupBy(*KEYS, "bucket").agg(*sums)


def percentiles(latencies: DataFrame, *keys: str) -> DataFrame:
    """Counts, bytes, the mean latency and its percentiles (ms, within 0.4 %) by these keys, all four by default."""
    middle = _middle(F.col("bucket")) / F.lit(_NS_PER_MS)
    weight = F.when(F.col("bucket").isNotNull(), F.col("responses")).otherwise(F.lit(0))
    return latencies.groupBy(*(keys or KEYS)).agg(
        *[F.sum(name).alias(name) for name in SUMS],
        (F.sum("latency_ns") / F.sum(weight) / F.lit(_NS_PER_MS)).alias("latency_mean_ms"),
        *[F.percentile(middle, F.lit(percent / 100), weight).alias(f"latency_p{percent}_ms") for percent in _PERCENTS],
        F.max(middle).alias("latency_max_ms"),
    )


def _middle(bucket: Column) -> Column:
    """As `histogram.middle_of`."""
    shift = F.shiftright(bucket.cast("int"), PRECISION) - 1
    low = bucket - F.shiftleft(F.lit(1), PRECISION) * shift
    return F.when(shift > 0, (low + 0.5) * F.pow(F.lit(2.0), shift)).otherwise(bucket.cast("double"))
