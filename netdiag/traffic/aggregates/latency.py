"""How long answers take: service time, with the waiting that was asked for told apart."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from netdiag.traffic.aggregates.declared import aggregate
from netdiag.traffic.aggregates.expressions import FETCH, JOIN_GROUP, SYNC_GROUP, quantiles
from netdiag.traffic.aggregates.rates import UNANSWERED
from netdiag.traffic.aggregates.spark_types import shaped
from netdiag.traffic.aggregates.weights import TIMES, times_if, weighed


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
