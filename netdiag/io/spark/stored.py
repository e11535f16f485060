"""Data directories beside a capture: the tables of their logs that the questions about both need.

Read are the logs of topics that the capture produces to, the offsets that groups have committed, and of each partition
that these name the last segment, for its end.
"""

import json
import os
from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from netdiag.io.files.log_files import partitions_of
from netdiag.io.spark.source import STORAGE_FORMAT, register
from netdiag.kafka.storage import LOG_STARTS, DataDirectory, Partition
from netdiag.traffic import native
from netdiag.traffic.aggregates.expressions import PRODUCE, struct_of, topic_or_id
from netdiag.traffic.aggregates.lag import OFFSET_COMMIT, TXN_OFFSET_COMMIT
from netdiag.traffic.insights import Tables
from netdiag.traffic.native import LogFile
from netdiag.traffic.tables import table

_OF_BATCHES = (
    "file", "topic", "partition", "base_offset", "producer_id", "producer_epoch", "base_sequence", "checksum_valid",
)  # fmt: skip
_OF_COMMITS = ("group", "topic", "partition", "offset", "commit_timestamp")
_OF_ENDS = ("file", "last_offset")
_RANGES = "topic string, partition int, log_start_offset bigint, log_end_offset bigint"


def stored_tables(spark: SparkSession, tables: Tables, directories: Sequence[DataDirectory]) -> Mapping[str, DataFrame]:
    """`log_batches` of the topics that clients produced to, `committed_offsets`, and `log_ranges` of both's topics."""
    register(spark)
    committed = _read(spark, directories, "committed_offsets", _OF_COMMITS, None)
    of_both = F.col("api_key").isin(PRODUCE, OFFSET_COMMIT, TXN_OFFSET_COMMIT)
    named = tables["partitions"].where(of_both).withColumn("topic", topic_or_id())
    produced = _topics(named.where(F.col("api_key") == PRODUCE))
    logs = _Logs(directories, produced | _topics(named) | _topics(committed))
    return {
        "log_batches": _read(spark, directories, "log_batches", _OF_BATCHES, logs.topics & produced),
        "committed_offsets": committed,
        "log_ranges": spark.createDataFrame(logs.ranges(), _RANGES),
    }


def _topics(rows: DataFrame) -> set[str]:
    return {row["topic"] for row in rows.select("topic").distinct().collect()}


def _read(
    spark: SparkSession,
    directories: Sequence[DataDirectory],
    level: str,
    columns: Sequence[str],
    topics: set[str] | None,
) -> DataFrame:
    if topics is not None and not topics:
        return spark.createDataFrame([], struct_of(table(level), columns))
    options = {
        "paths": json.dumps([os.path.abspath(one.path) for one in directories]),
        "level": level,
        "columns": ",".join(columns),
    }
    if topics is not None:
        options["topics"] = ",".join(sorted(topics))
    return spark.read.format(STORAGE_FORMAT).options(**options).load()


class _Logs:
    """Those of some topics; `topics` are the ones that there are."""

    def __init__(self, directories: Sequence[DataDirectory], wanted: set[str]) -> None:
        self._partitions = [
            (one, partition)
            for one in directories
            for partition in partitions_of(one, frozenset())
            if partition.segments and partition.name.topic in wanted
        ]
        self.topics = {partition.name.topic for _, partition in self._partitions}

    def ranges(self) -> list[tuple[str, int, int, int]]:
        """From the first offset of each log to behind the last one; of several replicas, all that one of them has."""
        ends = self._ends()
        found: dict[tuple[str, int], tuple[int, int]] = {}
        for one, partition in self._partitions:
            place = partition.name.topic, partition.name.partition
            first, last = partition.segments[0].offset, partition.segments[-1].offset
            start = max(first, one.checkpoint(LOG_STARTS, partition.name) or 0)
            end = max(last, ends.get(_last_file(one, partition), 0))
            least, most = found.get(place, (start, end))
            found[place] = min(start, least), max(end, most)
        return [(*place, *span) for place, span in found.items()]

    def _ends(self) -> Mapping[str, int]:
        """Behind the last offset of each last segment; one without a batch has none."""
        paths = [_last_file(one, partition) for one, partition in self._partitions]
        ends: dict[str, int] = {}
        for ready in native.read_logs([LogFile(path=path, name=path) for path in paths], {"log_segments": _OF_ENDS}):
            for batch in ready.get("log_segments", ()):
                ends |= {file: offset + 1 for file, offset in batch.rows() if offset is not None}
        return ends


def _last_file(one: DataDirectory, partition: Partition) -> str:
    return f"{one.path}/{partition.folder}/{partition.segments[-1].file}"
