"""Transactions as the wire tells them: what begins one, how it ends."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from netdiag.traffic.aggregates.declared import aggregate
from netdiag.traffic.aggregates.expressions import PRODUCE, count_if, median, ms_between
from netdiag.traffic.aggregates.spark_types import shaped

_INIT_PRODUCER_ID, _ADD_PARTITIONS, _ADD_OFFSETS, _END, _COMMIT_OFFSETS = 22, 24, 25, 26, 28
_PARTS = (PRODUCE, _ADD_PARTITIONS, _ADD_OFFSETS, _COMMIT_OFFSETS)


def transactions(exchanges: DataFrame) -> DataFrame:
    """Table `transactions`.

    A transaction is what lies between two ends: an EndTxn that was answered without an error, or an InitProducerId,
    with which a producer starts anew. An EndTxn that is refused may be tried again and ends nothing.
    """
    api = F.col("api_key")
    rows = exchanges.where(F.col("transactional_id").isNotNull() & api.isin(*_PARTS, _INIT_PRODUCER_ID, _END))
    ended = (api == _END) & (F.coalesce("error_code", F.lit(0)) == 0) & (F.col("outcome") == "answered")
    begins_anew = api == _INIT_PRODUCER_ID
    order = Window.partitionBy("transactional_id").orderBy("time", "request_packet", "correlation_id")
    before = F.coalesce(F.sum(ended.cast("int")).over(order.rowsBetween(Window.unboundedPreceding, -1)), F.lit(0))
    upto = F.sum(begins_anew.cast("int")).over(order.rowsBetween(Window.unboundedPreceding, Window.currentRow))
    numbered = rows.withColumns({"_number": before + upto, "_ended": ended, "_anew": begins_anew})
    part = F.col("api_key").isin(*_PARTS)
    each = numbered.groupBy("transactional_id", "_number").agg(
        F.min("client_id").alias("client_id"),
        F.min(F.when(part | (api == _END), F.col("time"))).alias("_begin"),
        F.max(F.when(F.col("_ended"), F.coalesce("response_time", "time"))).alias("_end"),
        F.max(F.when(F.col("_ended"), F.col("committed"))).alias("_committed"),
        F.max((api == _END) & ~F.col("_ended")).alias("_refused"),
    )
    last = F.max("_number").over(Window.partitionBy("transactional_id"))
    begun = F.col("_begin").isNotNull()
    found = (
        each.withColumn("_is_last", F.col("_number") == last)
        .groupBy("transactional_id")
        .agg(
            F.min("client_id").alias("client_id"),
            count_if(begun).alias("begun"),
            count_if(F.col("_committed")).alias("committed"),
            count_if(~F.col("_committed")).alias("aborted"),
            count_if(begun & F.col("_end").isNull() & (F.col("_refused") | ~F.col("_is_last"))).alias("failed"),
            count_if(begun & F.col("_end").isNull() & ~F.col("_refused") & F.col("_is_last")).alias("open"),
            median(ms_between(F.col("_begin"), F.col("_end"))).alias("duration_p50_ms"),
            F.max(ms_between(F.col("_begin"), F.col("_end"))).alias("duration_max_ms"),
        )
    )
    return shaped(found, aggregate("transactions"))
