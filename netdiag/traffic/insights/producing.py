"""Insights about what is produced: batches, compression, acks, batches sent again, and to which partitions."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from netdiag.traffic.aggregates.weights import TIMES
from netdiag.traffic.facts import Acks, Producing, Skew
from netdiag.traffic.folds.batches import MOST_RESENT, RESENT
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

_PRODUCE = 0


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
