"""docs/tables.md: every table that captures become, and every aggregate, made from their schemas.

`python -m tests.house.tables_page` (`make docs`) writes it.
"""

import sys
from pathlib import Path

from netdiag.render.rule_pages import escaped
from netdiag.traffic import tables
from netdiag.traffic.tables import NAMES, PARTIAL_NAMES, PAYLOAD_NAMES, RAW_NAMES, Kind, Table, table
from tests.house.tree import ROOT

PAGE = ROOT / "docs" / "tables.md"
_TYPES = {
    Kind.BOOL: "bool",
    Kind.INT16: "int16",
    Kind.INT32: "int32",
    Kind.INT64: "int64",
    Kind.FLOAT64: "float64",
    Kind.STRING: "string",
    Kind.STRINGS: "list of string",
    Kind.TIME: "timestamp, UTC",
}
_HEAD = """# Tables

What captures become. `netdiag analyze FILES --out DIR` writes each table as Parquet into `DIR/TABLE`, each aggregate
into `DIR/answers/AGGREGATE`; `netdiag exchanges --table TABLE` streams one without Spark. In a notebook:

    from netdiag.io.spark import register

    register(spark)
    spark.read.format("kafka_pcap").option("level", "connections").load("captures/")

Options of the format: `level` (a table of this page, `exchanges` by default), `columns` (or `.schema(...)`), `since`,
`until`, `ports`, `clients`, `brokers`, `topics` (lists with commas) and `partitions`, the number of tasks: each of them
reads the headers of all packets and the connections of its class, and the rows are the same however many there are.
Where `spark.sql.python.filterPushdown.enabled` is true before `register`, comparisons of `time` and of `broker` reach
the reader as far as no row changes by that.

    spark.readStream.format("kafka_pcap").option("state", "followed").load("captures/")

streams a folder that captures come into, while they grow: any level but `packets`, `segments` and `latencies`. `state`
is a folder for what is under way, which belongs to the checkpoint of the stream. A row comes once nothing can change it
any more: an exchange with its answer, a connection with its end. With `.option("once", "true")` what is there now is
all, and what has no end yet comes last; then the rows of all batches together are those of `spark.read`. `lateness` is
the seconds by which a file may come late (2). It needs pyspark 4.2.

Spark and Parquet have times in microseconds, cut, not rounded; `exchanges --format arrow` has nanoseconds. A column
marked * is never null. Where only a topic id travelled, `topic` is null in the tables; aggregates have the name that
any response of the capture tells for the id. Percentiles are those of values at three digits, within 0.5 %.
"""

_PAYLOADS = """Keys and values are never stored unless `netdiag exchanges --payloads --table records --format json`
(or csv, arrow) asks for them; `analyze` and the Spark format never do. A batch that the capture has not as a whole has
no rows. What could not be unpacked is told on standard error.
"""

_PARTIALS = """Who asks what, how often, how slow: for captures so large that a row per exchange is too much. The
Spark format has them as the level `latencies`, and `netdiag.traffic.latencies` adds them up:

    from netdiag.traffic.latencies import percentiles

    percentiles(spark.read.format("kafka_pcap").option("level", "latencies").load("captures/"), "api_name", "broker")

gives requests, responses, unanswered, errors, bytes, the mean latency and its percentiles 50, 95 and 99 and maximum,
these within 0.4 %, by any of `api_name`, `client`, `client_id` and `broker`; the same however many tasks there are.
"""

_CHARTS = """`netdiag analyze --report FILE` asks these, too, and draws them; they are in the page only. The
time of the capture is cut into at most 240 buckets of a round length, so that they are small whatever it holds.
"""


def page() -> str:
    """The text of the page."""
    parts = [_HEAD, "## Tables of the engine\n", *(_table(table(name)) for name in NAMES)]
    parts += ["## With keys and values\n", _PAYLOADS, *(_table(table(name)) for name in PAYLOAD_NAMES)]
    parts += ["## Partial sums\n", _PARTIALS, *(_table(table(name)) for name in PARTIAL_NAMES)]
    parts += ["## Before the engine\n", *(_table(table(name)) for name in RAW_NAMES)]
    parts += ["## Aggregates\n", *(_table(tables.aggregate(name)) for name in tables.aggregate_names())]
    parts += ["## Of a report\n", _CHARTS, *(_table(tables.aggregate(name)) for name in tables.chart_names())]
    return "\n".join(parts)


def _table(shape: Table) -> str:
    rows = [
        f"| {column.name}{'*' if column.required else ''} | {_TYPES[column.kind]} | {escaped(column.doc)} |"
        for column in shape.columns
    ]
    return "\n".join(
        [f"### {shape.name}\n", f"{_sentence(shape.doc)}.\n", "| Column | Type | |", "|---|---|---|", *rows, ""]
    )


def _sentence(text: str) -> str:
    return escaped(text[0].upper() + text[1:])


def main(path: Path) -> None:
    """Write the page where it differs."""
    now = page()
    if not path.exists() or path.read_text(encoding="utf-8") != now:
        path.write_text(now, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else PAGE)
