"""Sums that tasks make: those of the format, however many tasks there are."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import netdiag.io.spark
from netdiag.io.spark.reading import Reading
from netdiag.io.spark.source import FORMAT
from netdiag.io.spark.sums import latencies
from netdiag.traffic.aggregates.partial import merged
from netdiag.traffic.native import ReadOptions
from tests.native.conversations import capture

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_sums_are_those_of_the_format_however_many_tasks(spark: "SparkSession", tmp_path: Path) -> None:
    folder = str(tmp_path)
    capture(tmp_path / "a.pcap")
    capture(tmp_path / "b.pcap", 2, port=9093, asks=1)
    reading = Reading(paths=(folder,), options=ReadOptions(tables=frozenset({"exchanges"})))
    netdiag.io.spark.register(spark)
    expected = spark.read.format(FORMAT).option("level", "latencies").load(folder)
    rows = Counter(merged(expected).collect())
    assert sum(row["requests"] for row in rows) == 38
    for tasks in (1, 3):
        found = latencies(spark, reading, tasks=tasks)
        assert found.schema == expected.schema
        assert Counter(merged(found).collect()) == rows
