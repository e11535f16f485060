"""Insights about requests and answers: how many, in which versions, which errors, refused sizes, silences."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from netdiag.traffic.aggregates.expressions import times_if
from netdiag.traffic.facts import Acks, Calls, Errors, Idle, Oversized, Producing, Skew
from netdiag.traffic.folds.merged import MOST_RESENT, RESENT, TIMES
from netdiag.traffic.insights.shape import (
    CLIENT,
    Tables,
    replicas,
    shaped,
    sightings,
    topic_name,
    with_client,
    with_connection,
)

_PRODUCE, _FETCH, _LIST_OFFSETS, _METADATA = 0, 1, 2, 3
# Apis whose errors are those of partitions: table partitions has them one by one.
_BY_PARTITION = (_PRODUCE, _FETCH, _LIST_OFFSETS)
_WINDOW_SECONDS = 10
# socket.request.max.bytes of a broker that nobody changed.
_LARGEST_REQUEST = 104_857_600
_MESSAGE_TOO_LARGE, _RECORD_LIST_TOO_LARGE = 10, 18
# Shorter silences are no idleness: Metadata is refreshed every few minutes, everything else is more frequent.
_IDLE_MS = 60_000
_SENT_AGAIN = 3


def calls(tables: Tables) -> DataFrame:
    """The requests of each client to each broker by api key."""
    keys = (*CLIENT, "broker", "api_key")
    throttled = F.coalesce("throttle_ms", F.lit(0))
    frame = _requests(tables).withColumn("window", F.floor(F.col("time").cast("double") / _WINDOW_SECONDS))
    by_window = frame.groupBy(*keys, "window").agg(
        *sightings(packet="request_packet"),
        F.min("api_version").alias("lowest"),
        F.max("api_version").alias("highest"),
        times_if(F.col("outcome") == "unanswered").alias("unanswered"),
        times_if(throttled > 0).alias("throttled"),
        F.sum(throttled * F.col(TIMES)).alias("throttle_ms"),
        F.max(throttled).alias("longest_throttle_ms"),
    )
    found = by_window.groupBy(*keys).agg(
        F.min("first").alias("first"),
        F.max("last").alias("last"),
        F.max("times").alias("busiest"),
        F.min("lowest").alias("lowest"),
        F.max("highest").alias("highest"),
        *(F.sum(name).alias(name) for name in ("times", "unanswered", "throttled", "throttle_ms")),
        F.max("longest_throttle_ms").alias("longest_throttle_ms"),
    )
    return shaped(found, Calls, most=[F.col("times").desc(), *map(F.col, keys)])


def errors(tables: Tables) -> DataFrame:
    """The error codes in answers to each client, with as many answers as it got in all."""
    frame = _of_exchanges(tables).unionByName(_of_partitions(tables)).unionByName(_of_topics(tables))
    return shaped(frame, Errors, most=[F.col("times").desc(), F.col("error_code"), F.col("api_key")])


def oversized(tables: Tables) -> DataFrame:
    """Requests that were refused for their size, or that are larger than a broker takes unless told to."""
    refused = (
        with_connection(topic_name(tables["partitions"]), tables)
        .where(F.col("error_code").isin(_MESSAGE_TOO_LARGE, _RECORD_LIST_TOO_LARGE))
        .groupBy(*CLIENT, "broker", "error_code", "topic")
        .agg(*sightings(), F.coalesce(F.max("record_bytes"), F.lit(0)).alias("largest"))
    )
    cut_off = (
        _requests(tables)
        .where((F.col("request_bytes") > _LARGEST_REQUEST) & (F.col("outcome") == "unanswered"))
        .withColumn("topic", F.try_element_at("topics", F.lit(1)))
        .withColumn("error_code", F.lit(0).cast("smallint"))
        .groupBy(*CLIENT, "broker", "error_code", "topic")
        .agg(*sightings(packet="request_packet"), F.max("request_bytes").alias("largest"))
    )
    return shaped(refused.unionByName(cut_off), Oversized, most=[F.col("largest").desc(), F.col("topic")])


def idle(tables: Tables) -> DataFrame:
    """Connections that nothing was said on for a minute before they ended, by how long and how they ended."""
    answered = F.col("outcome") != "unanswered"
    silent = (
        tables["exchanges"]
        .groupBy("connection")
        .agg(
            F.max(F.when(answered, F.coalesce("response_time", "time"))).alias("heard"),
            F.max(F.when(F.col("outcome") == "unanswered", F.col("time"))).alias("sent"),
        )
        .where(F.col("heard").isNotNull())
    )
    whole = tables["connections"].where(F.col("lost_bytes") == 0)
    frame = with_client(whole.join(silent, "connection"))
    used = F.coalesce(_milliseconds("sent", "heard") >= _IDLE_MS, F.lit(False))
    frame = frame.withColumn("used", used).withColumn(
        "silence", F.when(F.col("used"), _milliseconds("sent", "heard")).otherwise(_milliseconds("last_time", "heard"))
    )
    reset = F.col("ending").isin("reset-by-broker", "reset-by-client") | (F.col("retransmissions") >= _SENT_AGAIN)
    closed = F.col("ending").isin("fin", "reset-by-broker")
    ended = frame.where((F.col("silence") >= _IDLE_MS) & F.when(F.col("used"), reset).otherwise(closed))
    found = ended.groupBy(
        *CLIENT, "broker", "ending", "used", F.floor(F.col("silence") / (_WINDOW_SECONDS * 1000)).alias("length")
    ).agg(*sightings("last_time"), F.min("silence").alias("idle_ms"), F.max("silence").alias("longest_ms"))
    return shaped(found, Idle, most=[F.col("used").desc(), F.col("times").desc(), F.col("idle_ms")])


def _milliseconds(end: str, start: str) -> Column:
    return ((F.unix_micros(F.col(end)) - F.unix_micros(F.col(start))) / 1000).cast("long")


def _requests(tables: Tables) -> DataFrame:
    """The requests of clients: what brokers fetch from each other is their own affair."""
    known = F.col("api_key").isNotNull() & (F.coalesce("replica_id", F.lit(-1)) < 0)
    return with_client(tables["exchanges"].where(known))


def _of_exchanges(tables: Tables) -> DataFrame:
    """Errors of whole answers, with the SASL mechanism of their connection."""
    keys = (*CLIENT, "broker", "api_key")
    whole = ~F.col("api_key").isin(*_BY_PARTITION, _METADATA)
    mechanisms = tables["connections"].select("connection", "sasl_mechanism")
    answers = _requests(tables).where(whole & F.col("error_code").isNotNull()).join(mechanisms, "connection", "left")
    by_code = answers.groupBy(*keys, "error_code").agg(
        *sightings("time", packet="response_packet"),
        F.max("group").alias("group"),
        F.max(F.try_element_at("topics", F.lit(1))).alias("topic"),
        F.max("sasl_mechanism").alias("mechanism"),
    )
    return _with_calls(by_code, keys).select(
        "*", F.lit(None).cast("int").alias("partition"), F.lit(0).cast("long").alias("partitions")
    )


def _of_partitions(tables: Tables) -> DataFrame:
    """Errors of partitions that were produced to, fetched, or asked for their offsets."""
    keys = (*CLIENT, "broker", "api_key", "topic")
    clients = F.col("api_key").isin(*_BY_PARTITION) & (F.coalesce("replica_id", F.lit(-1)) < 0)
    rows = topic_name(tables["partitions"]).where(clients & F.col("error_code").isNotNull())
    by_code = (
        with_connection(rows, tables)
        .groupBy(*keys, "error_code")
        .agg(
            *sightings(),
            F.min("partition").alias("partition"),
            F.countDistinct("partition").alias("partitions"),
            F.max("group").alias("group"),
        )
    )
    return _with_calls(by_code, keys).select("*", F.lit(None).cast("string").alias("mechanism"))


def _of_topics(tables: Tables) -> DataFrame:
    """Errors of topics and partitions that clients were told of in Metadata."""
    keys = (*CLIENT, "broker", "api_key", "topic")
    ends = tables["connections"].select("connection", "client", "broker", "client_id", "file")
    rows = topic_name(tables["leaders"]).where(F.col("error_code").isNotNull())
    once = rows.groupBy("connection", "correlation_id", "topic", "error_code").agg(
        F.min("time").alias("time"), F.min("partition").alias("partition")
    )
    frame = with_client(once.join(ends, "connection")).withColumn("api_key", F.lit(_METADATA).cast("smallint"))
    by_code = frame.groupBy(*keys, "error_code").agg(
        *sightings(), F.min("partition").alias("partition"), F.countDistinct("partition").alias("partitions")
    )
    return _with_calls(by_code, keys).select(
        "*", F.lit(None).cast("string").alias("group"), F.lit(None).cast("string").alias("mechanism")
    )


def _with_calls(by_code: DataFrame, keys: tuple[str, ...]) -> DataFrame:
    """The groups with an error, each with the number of all answers that differ from it in the code only."""
    whole = F.sum("times").over(Window.partitionBy(*keys))
    return by_code.withColumn("calls", whole).where(F.col("error_code") != 0)


def producing(tables: Tables) -> DataFrame:
    """The batches of each client to each topic."""
    batches = topic_name(tables["batches"]).where((F.col("api_key") == _PRODUCE) & ~F.coalesce("control", F.lit(False)))
    keys = (*CLIENT, "topic")
    rows = with_connection(batches, tables)
    if RESENT in batches.columns:
        found = rows.groupBy(*keys).agg(
            *_sums(), F.sum(RESENT).alias("resent"), F.max(MOST_RESENT).alias("most_resent")
        )
    else:
        found = _by_sequence(rows, keys)
    frame = found.join(F.broadcast(replicas(tables)), "topic", "left").na.fill(0, ["records", "plain_records"])
    return shaped(frame, Producing, most=[F.col("bytes").desc(), *map(F.col, keys)])


def _by_sequence(rows: DataFrame, keys: tuple[str, ...]) -> DataFrame:
    """What is told of batches, and how often each was sent.

    A sequence names a batch; without an idempotent producer all are one group here, in which nothing is sent again.
    """
    by_batch = rows.groupBy(*keys, "partition", "producer_id", "producer_epoch", "base_sequence").agg(*_sums())
    sent = F.when((F.col("producer_id") >= 0) & (F.col("base_sequence") >= 0), F.col("times")).otherwise(1)
    return by_batch.groupBy(*keys).agg(
        F.min("first").alias("first"),
        F.max("last").alias("last"),
        *(F.sum(name).alias(name) for name in ("times", "records", "bytes", "plain", "plain_bytes", "plain_records")),
        F.sum(sent - 1).alias("resent"),
        F.max(sent).alias("most_resent"),
    )


def _sums() -> list[Column]:
    plain = F.col("codec") == "none"
    return [
        *sightings(),
        F.sum("records").alias("records"),
        F.sum("bytes").alias("bytes"),
        F.sum(F.when(plain, F.col(TIMES)).otherwise(0)).alias("plain"),
        F.sum(F.when(plain, F.col("bytes")).otherwise(0)).alias("plain_bytes"),
        F.sum(F.when(plain, F.col("records")).otherwise(0)).alias("plain_records"),
    ]


def acks(tables: Tables) -> DataFrame:
    """The Produce requests of each client by topic and acks."""
    requests = (
        with_client(tables["exchanges"].where((F.col("api_key") == _PRODUCE) & F.col("acks").isNotNull()))
        .withColumn("topic", F.explode("topics"))
        .groupBy(*CLIENT, "topic", "acks")
        .agg(*sightings(packet="request_packet"))
    )
    return shaped(
        requests.join(F.broadcast(replicas(tables)), "topic", "left"),
        Acks,
        most=[F.col("times").desc(), *map(F.col, (*CLIENT, "topic", "acks"))],
    )


def skews(tables: Tables) -> DataFrame:
    """Of each topic with several partitions the one that gets most, and the client that sends most of that."""
    rows = topic_name(tables["partitions"]).where((F.col("api_key") == _PRODUCE) & (F.col("record_bytes") > 0))
    by_client = (
        with_connection(rows, tables)
        .groupBy("topic", "partition", *CLIENT)
        .agg(*sightings(), F.sum("records").alias("records"), F.sum("record_bytes").alias("bytes"))
    )
    by_partition = by_client.groupBy("topic", "partition").agg(
        F.max_by("first", F.struct("bytes", "client_host")).alias("first"),
        F.max("last").alias("last"),
        F.sum("times").alias("times"),
        F.sum("times").alias("batches"),
        F.sum("records").alias("records"),
        F.sum("bytes").alias("bytes"),
    )
    topic = Window.partitionBy("topic")
    ranked = (
        by_partition.withColumn("all_records", F.sum("records").over(topic))
        .withColumn("all_bytes", F.sum("bytes").over(topic))
        .withColumn("rank", F.row_number().over(topic.orderBy(F.col("bytes").desc(), "partition")))
        .where(F.col("rank") == 1)
    )
    known = replicas(tables).where(F.col("partitions") > 1)
    frame = ranked.join(F.broadcast(known), "topic").na.fill(0, ["records", "all_records"])
    return shaped(frame, Skew, most=[F.col("all_bytes").desc(), F.col("topic")])
