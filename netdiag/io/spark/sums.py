"""Captures summed up in the tasks: rows of `latencies` without the format `kafka_pcap`.

For that format Spark starts a Python of its own three times before the first task (to look for formats, to make the
source, to plan its tasks), each after the other. These tasks are made here, and start the workers at once.
"""

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from netdiag.io.spark.elsewhere import located
from netdiag.io.spark.reading import Reading, read_latencies
from netdiag.traffic.aggregates.spark_types import struct_of
from netdiag.traffic.tables import table


def latencies(spark: SparkSession, reading: Reading, *, tasks: int) -> DataFrame:
    """Partial sums of so many tasks, to be added up by `netdiag.traffic.aggregates.partial`."""

    def summed(numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in numbers:
            for number in batch.column(0).to_pylist():
                yield from read_latencies(located(reading.share(number, tasks)))

    return spark.range(0, tasks, 1, tasks).mapInArrow(summed, struct_of(table("latencies")))
