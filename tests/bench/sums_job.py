"""A PySpark job that sums a capture up: how often, how slow and how much, by api and broker, from its start to its end.

Tasks hand partial sums on (rows of `latencies`), so that no exchange goes through Java. What it prints is a line of
JSON per api and broker.
"""

import json
import sys

from netdiag.io.spark.reading import Reading
from netdiag.io.spark.session import spark_session
from netdiag.io.spark.sums import latencies
from netdiag.traffic.aggregates.partial import percentiles
from netdiag.traffic.native import ReadOptions


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
