"""Data directories of brokers in Spark, and what was produced on the wire beside what lies in their logs."""

import re
from collections import Counter
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

import netdiag.io.spark
from netdiag.app.storage import StorageQuery, read_storage_table
from netdiag.errors import InputError, UsageError
from netdiag.io.spark.source import FORMAT, STORAGE_FORMAT, StorageSource
from netdiag.kafka import protocol as wire
from netdiag.traffic.aggregates.expressions import struct_of
from netdiag.traffic.aggregates.stored import stored
from netdiag.traffic.tables import LOG_NAMES, table
from tests.bars.data_directories import VERSIONS, dumped, fill
from tests.figures import Report
from tests.native.conversations import PRODUCE, batch, produce
from tests.native.files import pcap_file
from tests.native.log_files import moved
from tests.native.packets import TcpConnection

FIRST, SECOND = f"{0:020}.log", f"{8:020}.log"
NUMBERED = [batch(producer_id=7, producer_epoch=1, base_sequence=4 * number) for number in range(3)]
PLAIN = batch()
# As kafka-dump-log prints one.
BATCH = re.compile(r"^baseOffset: (?P<base>\d+) .* isControl: (?P<control>\w+) ", re.MULTILINE)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two partitions of one topic: batches of a producer that numbers them in one, of another one in the other."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "meta.properties").write_text("version=1\nnode.id=1\ncluster.id=MkU3OEVBNTcwNTJENDM2Qg\n")
    for name, data in {
        f"orders-4/{FIRST}": NUMBERED[0] + moved(NUMBERED[1], 4),
        f"orders-4/{SECOND}": moved(PLAIN, 8),
        f"orders-5/{FIRST}": PLAIN + b"\x01" * 100,
    }.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)
    return str(folder)


def read(spark: SparkSession, path: str, form: str = STORAGE_FORMAT, **options: object) -> DataFrame:
    netdiag.io.spark.register(spark)
    return spark.read.format(form).options(**{name: str(value) for name, value in options.items()}).load(path)


@pytest.mark.parametrize("level", LOG_NAMES)
def test_rows_are_those_of_the_command(spark: SparkSession, directory: str, level: str) -> None:
    frame = read(spark, directory, level=level)
    assert frame.schema == struct_of(table(level))
    names = table(level).names
    batches = read_storage_table(StorageQuery(names=(directory,)), level, names)
    expected = sorted(repr([_plain(value) for value in row]) for each in batches for row in each.rows())
    found = sorted(repr([_plain(value) for value in row.values()]) for row in frame.toArrow().to_pylist())
    assert found == expected != []


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def test_the_number_of_tasks_changes_nothing(spark: SparkSession, directory: str) -> None:
    found = {tasks: read(spark, directory, partitions=tasks, columns="base_offset,file") for tasks in (1, 3, 7)}
    assert found[7].rdd.getNumPartitions() == 7
    rows = [Counter(frame.collect()) for frame in found.values()]
    assert rows[0] == rows[1] == rows[2]
    assert rows[0].total() == 4


def test_topics_are_chosen(spark: SparkSession, directory: str) -> None:
    assert read(spark, directory, topics="orders").count() == 4
    assert read(spark, directory, topics="others").count() == 0


def test_what_cannot_be_read_is_one_line(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no level 'exchanges'"):
        StorageSource({"path": "x", "level": "exchanges"}).schema()
    with pytest.raises(InputError, match="there are no data directories to read"):
        StorageSource({}).reader(struct_of(table("log_batches")))
    frame = read(spark, str(tmp_path / "nothing"))
    with pytest.raises(PySparkException, match="no such file or directory"):
        frame.count()


def test_which_batches_of_a_capture_are_in_the_log(spark: SparkSession, directory: str, tmp_path: Path) -> None:
    talker = TcpConnection().open()
    for number, (data, offset) in enumerate(
        [(NUMBERED[0], 0), (NUMBERED[1], -1), (NUMBERED[2], 4), (PLAIN, 8), (PLAIN, 90), (PLAIN, -1)]
    ):
        talker.ask(produce(data, correlation_id=number))
        partition = {"index": 4, "error_code": 0 if offset >= 0 else 7, "base_offset": offset}
        response = {"responses": [{"name": "orders", "partition_responses": [partition]}]}
        talker.answer(wire.encode_response(PRODUCE, 9, number, response))
    capture = tmp_path / "a.pcap"
    capture.write_bytes(pcap_file(talker.close().packets))
    batches, partitions = (read(spark, str(capture), FORMAT, level=level) for level in ("batches", "partitions"))
    found = stored(batches, partitions, read(spark, directory))
    assert found.columns == [*batches.columns, "stored", "log_offset", "log_file"]
    rows = found.orderBy("time").select("stored", "log_offset", "log_file").collect()
    assert [tuple(row) for row in rows] == [
        (True, 0, f"orders-4/{FIRST}"),
        # Its response says that it timed out, and yet it is there.
        (True, 4, f"orders-4/{FIRST}"),
        (False, None, None),
        (True, 8, f"orders-4/{SECOND}"),
        (False, None, None),
        (None, None, None),
    ]


@pytest.mark.bar("stored-batches", long=True)
@pytest.mark.parametrize("version", VERSIONS)
def test_all_that_clients_produced_is_where_kafka_says(
    spark: SparkSession, tmp_path: Path, version: str, figure: Report
) -> None:
    folder, capture = tmp_path / "data", tmp_path / "a.pcap"
    folder.mkdir()
    fill(version, folder, capture)
    batches, partitions = (read(spark, str(capture), FORMAT, level=level) for level in ("batches", "partitions"))
    # Others are compacted.
    rows = stored(batches, partitions, read(spark, str(folder))).where("topic in ('orders', 'appended')").collect()
    logs = [log for topic in ("orders", "appended") for log in folder.glob(f"{topic}-*/*.log")]
    told = Counter(
        (f"{log.parent.name}/{log.name}", int(line["base"]))
        for log in logs
        for line in BATCH.finditer(dumped(version, "--files", log))
        if line["control"] == "false"
    )
    assert Counter((row.log_file, row.log_offset) for row in rows if row.stored is not None) == told
    # A broker that has just become the leader refuses, and the client tries again.
    refused = partitions.where("api_key = 0 and error_code <> 0").count()
    assert sum(row.stored is None for row in rows) == refused
    assert len({row.producer_id >= 0 for row in rows}) == 2
    figure(f"batches of clients in the log of {version}", told.total())
