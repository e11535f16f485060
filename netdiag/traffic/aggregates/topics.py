"""What goes through topics and partitions: requests, records, transactions; what their ids are called."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from netdiag.traffic.aggregates.expressions import (
    FETCH,
    KEY,
    PRODUCE,
    beside,
    count_if,
    host,
    median,
    ms_between,
    shaped,
    span,
    times,
    times_if,
    topic_or_id,
    total,
    weighed,
)
from netdiag.traffic.folds import (
    ACKS,
    ALL_BYTES,
    ALL_RECORDS,
    FIRST_OF_PARTITION,
    FIRST_OF_TOPIC,
    TIMES,
)
from netdiag.traffic.tables import aggregate

_SUMS = ("produced_records", "produced_bytes", "fetched_records", "fetched_bytes", "replicated_bytes", "errors")

_COUNTS = ("produce_requests", "fetches")
# What one client asks of one partition is summed up first.
_EACH = ("topic", "partition", "client_id")


def topics(partitions: DataFrame, exchanges: DataFrame) -> DataFrame:
    """Table `topics`."""
    return shaped(_summed(partitions, exchanges, "topic"), aggregate("topics"))


def topic_partitions(partitions: DataFrame, exchanges: DataFrame) -> DataFrame:
    """Table `topic_partitions`."""
    sums = _summed(partitions, exchanges, "topic", "partition")
    whole = F.sum("produced_bytes").over(Window.partitionBy("topic"))
    share = F.when(whole > 0, F.col("produced_bytes") / whole)
    return shaped(sums.withColumn("share", share), aggregate("topic_partitions"))


def _summed(partitions: DataFrame, exchanges: DataFrame, *keys: str) -> DataFrame:
    fetch, produced = F.col("api_key") == FETCH, F.col("api_key") == PRODUCE
    replicated = fetch & (F.coalesce("replica_id", F.lit(-1)) >= 0)
    fetched = fetch & ~replicated
    rows = weighed(partitions).withColumn("topic", topic_or_id()).where(F.col("topic").isNotNull())
    sums = _of_clients(rows.groupBy(*_EACH).agg(*_sums(produced, fetched, replicated)), keys)
    part = F.when(produced, F.lit("produce_requests")).when(fetched & (F.col("records") > 0), F.lit("fetches"))
    counts = (
        _once(rows.withColumn("_part", part).where(F.col("_part").isNotNull()), keys)
        .groupBy(*[F.col(key).alias(f"_{key}") for key in keys])
        .agg(*[times_if(F.col("_part") == name).alias(name) for name in _COUNTS])
    )
    same = [F.col(key).eqNullSafe(F.col(f"_{key}")) for key in keys]
    sums = sums.join(counts, same, "left").na.fill(0, list(_COUNTS))
    return beside(sums, span(exchanges)).withColumns(
        {
            "produced_per_s": F.col("produced_bytes") / F.col("span"),
            "fetched_per_s": F.col("fetched_bytes") / F.col("span"),
        }
    )


def _once(asked: DataFrame, keys: tuple[str, ...]) -> DataFrame:
    """An exchange counts once, however many of its partitions are of the topic."""
    first = FIRST_OF_PARTITION if "partition" in keys else FIRST_OF_TOPIC
    if first in asked.columns:
        return asked.withColumn(TIMES, F.col(first))
    return asked.select(*keys, "_part", *KEY).distinct().withColumn(TIMES, F.lit(1).cast("bigint"))


def _sums(produced: Column, fetched: Column, replicated: Column) -> list[Column]:
    return [
        F.sum(F.when(produced, F.col("records"))).alias("produced_records"),
        F.sum(F.when(produced, F.col("record_bytes"))).alias("produced_bytes"),
        F.sum(F.when(fetched, F.col("records"))).alias("fetched_records"),
        F.sum(F.when(fetched, F.col("record_bytes"))).alias("fetched_bytes"),
        F.sum(F.when(replicated, F.col("record_bytes"))).alias("replicated_bytes"),
        times_if(F.col("error_code") != 0).alias("errors"),
    ]


def _of_clients(each: DataFrame, keys: tuple[str, ...]) -> DataFrame:
    return each.groupBy(*keys).agg(
        *[total(name).alias(name) for name in _SUMS],
        F.size(F.collect_set("client_id")).alias("clients"),
        F.size(F.collect_set(F.col("partition"))).alias("partitions"),
    )


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


def topic_names(leaders: DataFrame, partitions: DataFrame) -> DataFrame:
    """topic_id and topic of every id of which some response tells the name."""
    told = leaders.select("topic_id", "topic").unionByName(partitions.select("topic_id", "topic"))
    known = told.where(F.col("topic_id").isNotNull() & F.col("topic").isNotNull())
    return known.groupBy("topic_id").agg(F.min("topic").alias("topic"))


def with_topic_names(frame: DataFrame, names: DataFrame) -> DataFrame:
    """Rows with columns topic and topic_id: the topic is filled in where its id is known."""
    known = F.broadcast(names.withColumnRenamed("topic", "_name"))
    filled = F.coalesce(F.col("topic"), F.col("_name"))
    return frame.join(known, "topic_id", "left").withColumn("topic", filled).select(*frame.columns)


def with_named_topics(exchanges: DataFrame, names: DataFrame) -> DataFrame:
    """Exchanges: ids in the list of topics become names."""
    entry = F.struct(F.col("topic_id").alias("key"), F.col("topic").alias("value"))
    known = names.agg(F.map_from_entries(F.collect_list(entry)).alias("_names"))
    named = F.transform("topics", lambda topic: F.coalesce(F.try_element_at("_names", topic), topic))
    return beside(exchanges, known).withColumn("topics", named).select(*exchanges.columns)


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
    # Brokers, too, send AddPartitionsToTxn for a producer, with a client.id of their own.
    of_producer = F.when(api != _ADD_PARTITIONS, F.col("client_id"))
    each = numbered.groupBy("transactional_id", "_number").agg(
        F.min("client_id").alias("client_id"),
        F.min(of_producer).alias("_producer"),
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
            F.coalesce(F.min("_producer"), F.min("client_id")).alias("client_id"),
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
