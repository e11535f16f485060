"""What was on the wire beside what is on disk: which batches that clients produced are in the log of a broker."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from netdiag.traffic.aggregates.expressions import KEY, PRODUCE, topic_or_id

_PLACE = ("topic", "partition")


def stored(batches: DataFrame, partitions: DataFrame, log_batches: DataFrame) -> DataFrame:
    """Every batch that was produced, with `stored`, and `log_offset` and `log_file`, where it begins in the log.

    An idempotent producer numbers its batches; any other batch is known by the offset that the response tells. Where
    there is neither, `stored` is null. It is false for what retention or compaction has removed, too.
    """
    produced = batches.where(F.col("api_key") == PRODUCE).withColumn("topic", topic_or_id())
    answers = partitions.where((F.col("api_key") == PRODUCE) & (F.col("response_offset") >= 0)).select(
        *KEY, topic_or_id().alias("topic"), "partition", "response_offset"
    )
    told = produced.join(answers, [*KEY, *_PLACE], "left")
    sequence, offset = _sequence(), _offset("response_offset")
    known = told.withColumn("_batch", F.when(sequence.isNotNull(), sequence).otherwise(offset))
    names = F.array_compact(F.array(_sequence(), _offset("base_offset")))
    logged = (
        log_batches.select(*_PLACE, F.explode(names).alias("_batch"), "base_offset", "file")
        .groupBy(*_PLACE, "_batch")
        .agg(F.min(F.struct("base_offset", "file")).alias("_logged"))
    )
    found = known.join(logged, [*_PLACE, "_batch"], "left")
    return found.select(
        *(found[name] for name in batches.columns),
        F.when(F.col("_batch").isNotNull(), F.col("_logged").isNotNull()).alias("stored"),
        F.col("_logged.base_offset").alias("log_offset"),
        F.col("_logged.file").alias("log_file"),
    )


def _sequence() -> Column:
    numbered = (F.col("producer_id") >= 0) & (F.col("base_sequence") >= 0)
    return F.when(numbered, F.concat_ws(":", F.lit("sequence"), "producer_id", "producer_epoch", "base_sequence"))


def _offset(name: str) -> Column:
    return F.when(F.col(name) >= 0, F.concat_ws(":", F.lit("offset"), name))
