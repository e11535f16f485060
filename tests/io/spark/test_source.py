"""The data source: levels, columns, filters, tasks."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.datasource import EqualTo, Filter, GreaterThan, LessThan, LessThanOrEqual, StringEndsWith

import netdiag.io.spark
from netdiag.errors import InputError, UsageError
from netdiag.io.spark.reading import Reading
from netdiag.io.spark.source import FORMAT, LEVELS, MARGIN_NS, CaptureReader, CaptureSource, Share, narrowed
from netdiag.traffic.aggregates.expressions import struct_of
from netdiag.traffic.latencies import merged, percentiles
from netdiag.traffic.native import ReadOptions
from netdiag.traffic.tables import table
from tests.native.conversations import EVERY, START, capture

MOMENT = datetime.fromtimestamp(START / 1000, UTC)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with two captures."""
    folder = tmp_path_factory.mktemp("captures")
    capture(folder / "a.pcap")
    capture(folder / "b.pcap", 2, port=9093, asks=1)
    return str(folder)


def read(spark: SparkSession, path: str | list[str], **options: object) -> DataFrame:
    netdiag.io.spark.register(spark)
    return spark.read.format(FORMAT).options(**{name: str(value) for name, value in options.items()}).load(path)


def test_exchanges_are_what_one_gets(spark: SparkSession, path: str) -> None:
    frame = read(spark, path)
    assert frame.schema == struct_of(table("exchanges"))
    rows = frame.orderBy("time", "connection").collect()
    assert len(rows) == 12 * 3 + 2
    assert rows[0].api_name == "Metadata"
    assert Path(rows[0].file).name == "a.pcap"


def test_the_number_of_tasks_changes_nothing(spark: SparkSession, path: str) -> None:
    found = {tasks: read(spark, path, partitions=tasks) for tasks in (1, 2, 3, 7)}
    assert found[7].rdd.getNumPartitions() == 7
    rows = {tasks: Counter(map(str, frame.collect())) for tasks, frame in found.items()}
    assert rows[1].total() == 38
    assert rows[1] == rows[2] == rows[3] == rows[7]


def test_partial_sums_are_those_of_the_exchanges_however_many_tasks(spark: SparkSession, path: str) -> None:
    found = {
        tasks: Counter(merged(read(spark, path, level="latencies", partitions=tasks)).collect()) for tasks in (1, 2, 7)
    }
    assert found[1] == found[2] == found[7]
    assert sum(row["requests"] for row in found[1]) == 38
    exchanges = read(spark, path, partitions=1)
    asked = exchanges.groupBy("broker").agg(F.count("request_bytes"), F.sum("request_bytes")).collect()
    summed = percentiles(read(spark, path, level="latencies", partitions=3), "broker")
    assert Counter(asked) == Counter(summed.select("broker", "requests", "request_bytes").collect())


def test_several_paths(spark: SparkSession, path: str) -> None:
    assert read(spark, [f"{path}/a.pcap", f"{path}/b.pcap"], partitions=1).count() == 38
    assert read(spark, f"{path}/b*", partitions=1).count() == 2


@pytest.mark.parametrize("level", ["connections", "packets"])
def test_other_levels(spark: SparkSession, path: str, level: str) -> None:
    found = read(spark, path, level=level, partitions=2)
    assert found.columns == list(table(level).names)
    assert found.count() == {"connections": 14, "packets": 12 * 12 + 2 * 8}[level]


def test_columns_by_schema_and_by_option(spark: SparkSession, path: str) -> None:
    netdiag.io.spark.register(spark)
    by_schema = spark.read.format(FORMAT).schema("client_id string, api_key smallint").load(path)
    assert by_schema.columns == ["client_id", "api_key"]
    assert by_schema.first() == ("app-0", 3)
    assert read(spark, path, columns="broker, api_name").distinct().orderBy("broker").collect() == [
        ("10.0.1.1:9092", "Metadata"),
        ("10.0.1.1:9093", "Metadata"),
    ]


def test_options_filter_what_is_read(spark: SparkSession, path: str) -> None:
    since = MOMENT + timedelta(milliseconds=10 * EVERY)
    assert read(spark, path, ports="9093", partitions=1).count() == 2
    assert read(spark, path, clients="app-1", partitions=1).count() == 6 * 3 + 1
    assert read(spark, path, topics="topic-2", partitions=1).count() == 4 * 3
    assert read(spark, path, since=since.isoformat(), partitions=1).count() == 2 * 3
    assert read(spark, path, until=since.isoformat(), partitions=1).count() == 10 * 3 + 2


def test_filters_of_spark_give_the_same_rows(spark: SparkSession, path: str) -> None:
    cut = MOMENT + timedelta(milliseconds=5 * EVERY)
    conditions = (
        (F.col("time") < F.lit(cut)) & (F.col("time") > F.lit(MOMENT + timedelta(milliseconds=EVERY))),
        F.col("broker") == "10.0.1.1:9093",
        F.col("broker").endswith(":9092") & F.col("client_id").startswith("app-0"),
    )
    counts = {}
    for pushed in ("true", "false"):
        spark.conf.set("spark.sql.python.filterPushdown.enabled", pushed)
        counts[pushed] = [read(spark, path, partitions=1).where(each).count() for each in conditions]
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    assert counts["true"] == counts["false"] == [13, 2, 18]


def test_what_cannot_be_is_said(spark: SparkSession, path: str) -> None:
    with pytest.raises(PySparkException, match="no level 'nothing'"):
        read(spark, path, level="nothing").count()


WHOLE = Reading(paths=("a.pcap",), options=ReadOptions())
NS = START * 1_000_000


@pytest.mark.parametrize(
    ("level", "each", "since", "until"),
    [
        ("packets", GreaterThan(("time",), MOMENT), NS, None),
        ("segments", LessThan(("time",), MOMENT), None, NS + 1000),
        ("packets", EqualTo(("time",), MOMENT), None, NS + 1000),
        ("exchanges", LessThanOrEqual(("time",), MOMENT), None, NS + 1000 + MARGIN_NS),
        # What came before tells which connection it is; what a response tells has the time of the response.
        ("exchanges", GreaterThan(("time",), MOMENT), None, None),
        ("endpoints", LessThan(("time",), MOMENT), None, None),
        ("connections", LessThan(("first_time",), MOMENT), None, None),
    ],
)
def test_bounds_of_time_reach_the_files(level: str, each: Filter, since: int | None, until: int | None) -> None:
    found = narrowed(WHOLE, level, each)
    assert (found.since_ns, found.until_ns) == (since, until)


def test_the_narrower_bound_counts() -> None:
    bounded = Reading(paths=("a",), since_ns=NS + 5, until_ns=NS - 5, options=ReadOptions())
    assert narrowed(bounded, "packets", GreaterThan(("time",), MOMENT)).since_ns == NS + 5
    assert narrowed(bounded, "packets", LessThan(("time",), MOMENT)).until_ns == NS - 5


def test_brokers_and_ports_reach_the_engine() -> None:
    assert narrowed(WHOLE, "exchanges", EqualTo(("broker",), "b:1")).options.brokers == {"b:1"}
    assert narrowed(WHOLE, "losses", EqualTo(("broker",), "b:1")) == WHOLE
    assert narrowed(WHOLE, "segments", StringEndsWith(("source",), ":9092")).options.ports == {9092}
    assert narrowed(WHOLE, "segments", StringEndsWith(("source",), "92")) == WHOLE
    # Behind NAT a connection has two ports: which of them its row shows is not for a filter to change.
    assert narrowed(WHOLE, "exchanges", StringEndsWith(("broker",), ":9092")) == WHOLE


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"level": "x"}, "no level 'x'"),
        ({"columns": "time,x"}, "no column 'x' in exchanges"),
        ({"ports": "9092,kafka"}, "'kafka' is not a port"),
        ({"since": "now"}, "'now' is not a time"),
        ({"partitions": "0"}, "partitions '0' is no number"),
    ],
)
def test_an_option_that_cannot_be(options: dict[str, str], said: str) -> None:
    source = CaptureSource({"path": "a.pcap", **options})
    with pytest.raises(UsageError, match=said):
        source.reader(source.schema())


def test_a_schema_that_cannot_be() -> None:
    strange = struct_of(table("names"), ["type"])
    with pytest.raises(UsageError, match="no column 'type' in exchanges"):
        CaptureReader({"path": "a"}, strange)
    other = struct_of(table("leaders"), ["leader_id"]).add("time", "string")
    with pytest.raises(UsageError, match="column 'time' of leaders is timestamp"):
        CaptureReader({"path": "a", "level": "leaders"}, other)


def test_no_path_is_an_error() -> None:
    with pytest.raises(InputError, match="there are no captures to read"):
        CaptureReader({}, struct_of(table("exchanges")))


def test_small_captures_are_one_task(path: str) -> None:
    assert CaptureReader({"path": path}, struct_of(table("exchanges"))).partitions() == [Share(0, 1)]


def test_there_is_a_level_for_every_table() -> None:
    assert set(LEVELS) >= {"exchanges", "packets", "segments", "connections"}
