"""What was on the wire beside what is on disk: which batches that clients produced are in the log of a broker.

`log_ranges` are the partitions of which there is a log: topic, partition, log_start_offset and log_end_offset.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from netdiag.traffic.aggregates.expressions import KEY, PRODUCE, count_if, shaped, topic_or_id
from netdiag.traffic.aggregates.lag import commits
from netdiag.traffic.tables import aggregate

_PLACE = ("topic", "partition")
# What became of a batch, by the columns of `stored_batches`.
FATES = ("in_log", "damaged", "refused", "elsewhere", "unanswered", "deleted", "compacted", "missing", "unknown")


def stored_batches(
    batches: DataFrame, partitions: DataFrame, log_batches: DataFrame, log_ranges: DataFrame
) -> DataFrame:
    """Table `stored_batches`."""
    whole, damaged = (log_batches.where(F.col("checksum_valid") == valid) for valid in (True, False))
    found = _found(_found(_told(batches, partitions), whole, "_whole"), damaged, "_damaged")
    placed = found.join(F.broadcast(log_ranges), list(_PLACE), "left")
    start, end, offset = (F.col(name) for name in ("log_start_offset", "log_end_offset", "response_offset"))
    fate = (
        F.when(F.col("_whole").isNotNull(), "in_log")
        .when(F.col("_damaged").isNotNull(), "damaged")
        .when(F.col("error_code") != 0, "refused")
        .when(end.isNull(), "elsewhere")
        .when(F.col("error_code").isNull(), "unanswered")
        .when(offset < start, "deleted")
        .when(offset < end, "compacted")
        .when(offset >= end, "missing")
        .otherwise("unknown")
    )
    counted = (
        placed.withColumn("_fate", fate)
        .groupBy(*_PLACE)
        .agg(
            F.count(F.lit(1)).alias("batches"),
            *(count_if(F.col("_fate") == name).alias(name) for name in FATES),
            F.first(start).alias("log_start_offset"),
            F.first(end).alias("log_end_offset"),
        )
    )
    return shaped(counted, aggregate("stored_batches"))


def stored_commits(partitions: DataFrame, committed_offsets: DataFrame, log_ranges: DataFrame) -> DataFrame:
    """Table `stored_commits`."""
    group = ["group", *_PLACE]
    captured = commits(partitions).select(*group, F.col("last_offset").alias("captured_offset"))
    # Replicas of __consumer_offsets tell of one group several times.
    latest = F.max_by("offset", F.coalesce("commit_timestamp", F.lit(-1))).alias("stored_offset")
    on_disk = committed_offsets.groupBy(*group).agg(latest)
    both = captured.where(F.col("captured_offset").isNotNull()).join(on_disk, group, "full")
    placed = both.join(F.broadcast(log_ranges), list(_PLACE), "left")
    offset, end = F.coalesce("stored_offset", "captured_offset"), F.col("log_end_offset")
    state = (
        F.when(end.isNull(), "elsewhere")
        .when(offset < F.col("log_start_offset"), "deleted")
        .when(offset > end, "beyond")
        .when(offset == end, "at its end")
        .otherwise("in the log")
    )
    left = F.when(state.isin("in the log", "at its end"), end - offset)
    return shaped(placed.withColumns({"state": state, "records_left": left}), aggregate("stored_commits"))


def stored(batches: DataFrame, partitions: DataFrame, log_batches: DataFrame) -> DataFrame:
    """Every batch that was produced, with `stored`, and `log_offset` and `log_file`, where it begins in the log.

    An idempotent producer numbers its batches; any other batch is known by the offset that the response tells. Where
    there is neither, `stored` is null. It is false for what retention or compaction has removed, too.
    """
    found = _found(_told(batches, partitions), log_batches, "_logged")
    return found.select(
        *(found[name] for name in batches.columns),
        F.when(F.col("_batch").isNotNull(), F.col("_logged").isNotNull()).alias("stored"),
        F.col("_logged.base_offset").alias("log_offset"),
        F.col("_logged.file").alias("log_file"),
    )


def _told(batches: DataFrame, partitions: DataFrame) -> DataFrame:
    """The batches that were produced, with what their answers say, and with what they are known by: `_batch`."""
    produced = batches.where(F.col("api_key") == PRODUCE).withColumn("topic", topic_or_id())
    offset = F.when(F.col("response_offset") >= 0, F.col("response_offset"))
    # One for each partition, even if a message names it several times.
    answers = (
        partitions.where(F.col("api_key") == PRODUCE)
        .withColumn("topic", topic_or_id())
        .groupBy(*KEY, *_PLACE)
        .agg(F.max("error_code").alias("error_code"), F.max(offset).alias("response_offset"))
    )
    told = produced.join(answers, [*KEY, *_PLACE], "left")
    return told.withColumn("_batch", F.coalesce(_sequence(), _offset("response_offset")))


def _found(told: DataFrame, log_batches: DataFrame, name: str) -> DataFrame:
    """With a column of this name: where a batch begins in the log, null where it is not there."""
    names = F.array_compact(F.array(_sequence(), _offset("base_offset")))
    logged = (
        log_batches.select(*_PLACE, F.explode(names).alias("_batch"), "base_offset", "file")
        .groupBy(*_PLACE, "_batch")
        .agg(F.min(F.struct("base_offset", "file")).alias(name))
    )
    return told.join(logged, [*_PLACE, "_batch"], "left")


def _sequence() -> Column:
    numbered = (F.col("producer_id") >= 0) & (F.col("base_sequence") >= 0)
    return F.when(numbered, F.concat_ws(":", F.lit("sequence"), "producer_id", "producer_epoch", "base_sequence"))


def _offset(name: str) -> Column:
    return F.when(F.col(name) >= 0, F.concat_ws(":", F.lit("offset"), name))
