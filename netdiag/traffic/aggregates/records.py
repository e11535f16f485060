"""What producers send and what consumers get."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from netdiag.traffic.aggregates.declared import aggregate
from netdiag.traffic.aggregates.expressions import FETCH, KEY, PRODUCE, host, median, topic_or_id, total
from netdiag.traffic.aggregates.spark_types import shaped
from netdiag.traffic.aggregates.weights import TIMES, times, times_if, weighed
from netdiag.traffic.folds.joined import ACKS, ALL_BYTES, ALL_RECORDS

_SOME = 20


def produce(batches: DataFrame, exchanges: DataFrame) -> DataFrame:
    """Table `produce`."""
    sent = _with_acks(batches, exchanges).withColumn("topic", topic_or_id())
    rows = weighed(sent).withColumn("idempotent", F.col("producer_id") >= 0)
    keys = ("client_id", "topic", "acks", "codec", "idempotent", "transactional")
    found = rows.groupBy(*keys).agg(
        times().alias("batches"),
        total(ALL_RECORDS).alias("total_records"),
        total(ALL_BYTES).alias("total_bytes"),
        median(F.col("bytes"), F.col(TIMES)).alias("batch_bytes_p50"),
        F.max("bytes").alias("batch_bytes_max"),
        median(F.col("records"), F.col(TIMES)).alias("records_p50"),
        F.max("records").alias("records_max"),
    )
    named = found.withColumnsRenamed({"total_bytes": "bytes", "total_records": "records"})
    return shaped(named, aggregate("produce"))


def consume(exchanges: DataFrame, group_events: DataFrame) -> DataFrame:
    """Table `consume`."""
    is_consumer = F.coalesce("replica_id", F.lit(-1)) < 0
    fetches = weighed(exchanges).where((F.col("api_key") == FETCH) & is_consumer & F.col("response_bytes").isNotNull())
    groups = _groups(group_events)
    topics = F.slice(F.array_sort(F.array_distinct(F.flatten(F.collect_set("topics")))), 1, _SOME)
    found = fetches.groupBy(host("client").alias("client"), "client_id").agg(
        times().alias("fetches"),
        times_if(F.col("empty")).alias("empty"),
        total("records").alias("records"),
        total("record_bytes").alias("bytes"),
        topics.alias("topics"),
    )
    with_records = F.col("fetches") - F.col("empty")
    found = found.join(F.broadcast(groups), ["client", "client_id"], "left").withColumn(
        "bytes_per_fetch", F.when(with_records > 0, F.col("bytes") / with_records)
    )
    return shaped(found, aggregate("consume"))


def _with_acks(batches: DataFrame, exchanges: DataFrame) -> DataFrame:
    """What was produced, with acks of its request and what is summed up of it."""
    sent = batches.where(F.col("api_key") == PRODUCE)
    if ACKS in batches.columns:
        return sent
    acks = exchanges.where(F.col("api_key") == PRODUCE).select(*KEY, ACKS)
    return sent.join(acks, list(KEY), "left").withColumns({ALL_BYTES: F.col("bytes"), ALL_RECORDS: F.col("records")})


def _groups(group_events: DataFrame) -> DataFrame:
    """The group of every client that is in one only."""
    members = group_events.where(F.col("group").isNotNull() & F.col("client_id").isNotNull())
    each = members.groupBy(host("client").alias("client"), "client_id").agg(
        F.min("group").alias("group"), F.max("group").alias("_other")
    )
    return each.where(F.col("group") == F.col("_other")).drop("_other")
