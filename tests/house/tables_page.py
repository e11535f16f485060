"""docs/tables.md: every table that captures become, and every aggregate, made from their schemas.

`python -m tests.house.tables_page` (`make docs`) writes it.
"""

import sys
from pathlib import Path

from netdiag.render.rule_pages import escaped
from netdiag.traffic import tables
from netdiag.traffic.tables import (
    LOG_NAMES,
    NAMES,
    PARTIAL_NAMES,
    PAYLOAD_NAMES,
    RAW_NAMES,
    STORED_NAMES,
    Kind,
    Table,
    table,
)
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

netdiag turns captures into these tables. `netdiag analyze FILES --out DIR` writes each table as Parquet into
`DIR/TABLE`, and each aggregate into `DIR/answers/AGGREGATE`. `netdiag exchanges --table TABLE` streams one without
Spark.

A column marked * is never null. Spark and Parquet have times in microseconds, truncated; `exchanges --format arrow` has
nanoseconds. If a packet holds only a topic ID, `topic` is null in the tables; aggregates take the name from any
response in the capture. Percentiles are computed from values with three digits, and are within 0.5 %.

## In a notebook

    from netdiag.io.spark import register

    register(spark)
    spark.read.format("kafka_pcap").option("level", "connections").load("captures/")

| option | |
|---|---|
| `level` | a table of this page; `exchanges` by default |
| `columns` | only these columns, as `.schema(...)` |
| `since`, `until`, `ports`, `clients`, `brokers`, `topics` | only this part of the capture; lists have commas |
| `partitions` | the number of tasks; the rows are the same for any number |

Each task reads the headers of all packets, and the connections of its class.

If `spark.sql.python.filterPushdown.enabled` is true before `register`, comparisons of `time` and of `broker` reach the
reader where that changes no row.

    spark.readStream.format("kafka_pcap").option("state", "followed").load("captures/")

streams a folder while captures arrive in it and grow. It needs PySpark 4.2, and offers every level but `packets`,
`segments` and `latencies`. A row arrives once nothing can change it any more: an exchange with its response, a
connection with its end.

| option | |
|---|---|
| `state` | a folder for unfinished connections; it belongs to the checkpoint of the stream |
| `once` | `true` reads what is there now and ends with the unfinished rows: in all, the rows of `spark.read` |
| `lateness` | by how many seconds a file may come late (default: 2) |
"""

_PAYLOADS = """netdiag stores no keys and values. Only `netdiag exchanges --payloads --table records` prints them, with
`--format json`, `csv` or `arrow`; `analyze` and the Spark format never do. A record batch that the capture does not
have completely has no rows. Standard error names what netdiag could not decompress.
"""

_PARTIALS = """Who requests what, how often and how fast, for captures that are too large for a row per
exchange. The Spark format has them as the level `latencies`, and `netdiag.traffic.latencies` adds them up:

    from netdiag.traffic.latencies import percentiles

    percentiles(spark.read.format("kafka_pcap").option("level", "latencies").load("captures/"), "api_name", "broker")

returns requests, responses, unanswered requests, errors, bytes, the mean latency, its percentiles 50, 95 and 99 and its
maximum, within 0.4 %, by any of `api_name`, `client`, `client_id` and `broker`. The number of tasks does not matter.
"""

_LOGS = """`netdiag storage --table TABLE DIR` prints what a broker's data directory holds, with `--format json`, `csv`
or `arrow`; it leaves out `log_` in the name (`--table batches`). A batch whose checksum does not hold has a row of
`log_batches` and none of `log_records`; what is no batch has a row of `log_problems` only. With several directories,
`file` begins with the directory.

In Spark, the format `kafka_storage` has these tables as `level`, without keys and values of `log_records`.
Its other options are `columns`, `topics` and `partitions`. Every executor must see the directory.

    from netdiag.io.spark import register
    from netdiag.traffic.aggregates.stored import stored

    register(spark)
    log = spark.read.format("kafka_storage").option("level", "log_batches").load("/var/lib/kafka/data")
    batches, partitions = (
        spark.read.format("kafka_pcap").option("level", level).load("captures/") for level in ("batches", "partitions")
    )
    stored(batches, partitions, log).where("not stored").show()

shows which batches that clients produced are not in this log. `stored` adds three columns to `batches`: `stored`,
`log_offset` and `log_file`. It knows a batch of an idempotent producer by its sequence, any other by the offset in the
response; without either, `stored` is null. Retention and compaction remove batches, too.
"""

_STORED = """`netdiag analyze --storage DIR` answers with these, too: what is on disk beside what was on the wire.
"""

_CHARTS = """`netdiag analyze --report FILE` draws these; they are only on its page. They divide the time of the capture
into at most 240 intervals of a round length, so they are small for any capture.
"""


def page() -> str:
    """The text of the page."""
    parts = [_HEAD, "## Tables\n", *(_table(table(name)) for name in NAMES)]
    parts += ["## Keys and values\n", _PAYLOADS, *(_table(table(name)) for name in PAYLOAD_NAMES)]
    parts += ["## Partial sums\n", _PARTIALS, *(_table(table(name)) for name in PARTIAL_NAMES)]
    parts += ["## Packets and segments\n", *(_table(table(name)) for name in RAW_NAMES)]
    parts += ["## Logs\n", _LOGS, *(_table(table(name)) for name in LOG_NAMES + STORED_NAMES)]
    parts += ["## Aggregates\n", *(_table(tables.aggregate(name)) for name in tables.aggregate_names())]
    parts += [
        "## Captures and logs\n",
        _STORED,
        *(_table(tables.aggregate(n)) for n in tables.stored_aggregate_names()),
    ]
    parts += ["## Charts of a report\n", _CHARTS, *(_table(tables.aggregate(name)) for name in tables.chart_names())]
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
