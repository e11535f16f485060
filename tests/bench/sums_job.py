"""A PySpark job that sums a capture up: how often, how slow and how much, by api and broker, from its start to its end.

Tasks hand partial sums on (rows of `latencies`), so that no exchange goes through Java. What it prints is a line of
JSON per api and broker.
"""

import json
import sys
from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from netdiag.io.spark.reading import Reading, read_latencies
from netdiag.io.spark.session import spark_session
from netdiag.traffic.aggregates.expressions import struct_of
from netdiag.traffic.latencies import percentiles
from netdiag.traffic.native import ReadOptions
from netdiag.traffic.tables import table


def latencies(spark: SparkSession, reading: Reading, *, tasks: int) -> DataFrame:
    """Rows of `latencies` of so many tasks.

    The format `kafka_pcap` gives the same rows, but for a format Spark starts a Python of its own three times before
    the first task: these tasks start the workers at once.
    """

    def summed(numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in numbers:
            for number in batch.column(0).to_pylist():
                yield from read_latencies(reading.share(number, tasks))

    return spark.range(0, tasks, 1, tasks).mapInArrow(summed, struct_of(table("latencies")))


def main(capture: str) -> int:
    """0 when there was an answer."""
    reading = Reading(paths=(capture,), options=ReadOptions(tables=frozenset({"exchanges"})))
    with spark_session("local[2]") as spark:
        rows = percentiles(latencies(spark, reading, tasks=2), "api_name", "broker").collect()
    for row in rows:
        print(json.dumps(row.asDict()))
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
