"""A PySpark job that reads nothing: what every job of Spark costs, in plain PySpark with its own settings.

A session, a first aggregation and a first stage with Python in it. `netdiag analyze` cannot do without these three.
"""

import os
import sys
from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import SparkSession


def main() -> int:
    """0 when both answers came."""
    os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    builder = SparkSession.builder.master("local[2]").config("spark.driver.bindAddress", "127.0.0.1")
    settings = {"spark.driver.host": "127.0.0.1", "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2"}
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    numbers = session.range(0, 1000, 1, 2)
    parts = numbers.groupBy((numbers.id % 7).alias("part")).count().collect()
    passed = numbers.mapInArrow(_same, "id long").count()
    session.stop()
    return 0 if (len(parts), passed) == (7, 1000) else 1


def _same(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


if __name__ == "__main__":
    sys.exit(main())
