"""Data directories of brokers in Spark, and what was produced on the wire beside what lies in their logs."""

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

import netdiag.io.spark
from netdiag.app.storage import StorageQuery, read_storage_table
from netdiag.errors import InputError, UsageError
from netdiag.io.files.data_directory import read_data_directory
from netdiag.io.spark.source import FORMAT, STORAGE_FORMAT, StorageSource
from netdiag.io.spark.stored import stored_tables
from netdiag.kafka import protocol as wire
from netdiag.traffic.aggregates.expressions import struct_of
from netdiag.traffic.aggregates.questions import answered, ordered
from netdiag.traffic.aggregates.stored import FATES, stored
from netdiag.traffic.tables import LOG_NAMES, STORED_NAMES, table
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


@pytest.mark.parametrize("level", STORED_NAMES)
def test_records_of_internal_topics_are_those_of_the_command(spark: SparkSession, tmp_path: Path, level: str) -> None:
    first, second = (committed(offset) for offset in (2, 3))
    for name, data in {"0/0": first, "0/1": moved(second, 1), "1/0": committed(9, topic="others")}.items():
        partition, _, segment = name.partition("/")
        folder = tmp_path / f"__consumer_offsets-{partition}"
        folder.mkdir(exist_ok=True)
        (folder / f"{int(segment):020}.log").write_bytes(data)
    (tmp_path / "meta.properties").write_text("version=1\nnode.id=1\ncluster.id=MkU3OEVBNTcwNTJENDM2Qg\n")
    names = table(level).names
    batches = read_storage_table(StorageQuery(names=(str(tmp_path),)), level, names)
    expected = sorted(repr(row) for each in batches for row in each.rows())
    for tasks in (1, 5):
        frame = read(spark, str(tmp_path), level=level, partitions=tasks)
        assert frame.schema == struct_of(table(level))
        assert sorted(repr(tuple(row)) for row in frame.collect()) == expected
    assert len(expected) == (3 if level == "stored_records" else 2)


def test_more_records_than_are_kept_are_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "__consumer_offsets-0").mkdir()
    (tmp_path / "__consumer_offsets-0" / FIRST).write_bytes(committed(2))
    level = "committed_offsets"
    reader = StorageSource({"path": str(tmp_path), "level": level}).reader(struct_of(table(level)))
    monkeypatch.setattr("netdiag.io.files.stored_state.MOST_STORED_BYTES", 1)
    with pytest.raises(InputError, match="has more records than netdiag keeps"):
        list(reader.read(reader.partitions()[0]))


def committed(offset: int, topic: str = "orders") -> bytes:
    """A batch with what group billing committed for partition 0 of a topic."""
    name = "__consumer_offsets"
    key = wire.encode_layout(
        wire.stored_layout(name, 1, "key", 0), {"group": "billing", "topic": topic, "partition": 0}
    )
    value = wire.encode_layout(wire.stored_layout(name, 1, "value", 3), {"offset": offset})
    return batch([((1).to_bytes(2) + key, (3).to_bytes(2) + value, [])])


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


def test_what_became_of_batches_and_commits(spark: SparkSession, directory: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(directory, data)
    # Of partition 4, offsets 4 to 7 are compacted away; partition 5 has lost what was before 2, and is damaged.
    (data / "orders-4" / FIRST).write_bytes(NUMBERED[0])
    (data / "orders-5" / FIRST).unlink()
    (data / "orders-5" / f"{2:020}.log").write_bytes(moved(PLAIN, 2)[:-1] + b"?" + moved(PLAIN, 6))
    (data / "__consumer_offsets-0").mkdir()
    (data / "__consumer_offsets-0" / FIRST).write_bytes(committed(0) + moved(committed(9, topic="others"), 1))
    sent = [
        (4, NUMBERED[0], 0, 0, "in_log"),
        (4, NUMBERED[1], 0, 4, "compacted"),
        (4, NUMBERED[2], 7, -1, "refused"),
        (4, PLAIN, 0, 8, "in_log"),
        (4, PLAIN, 0, 12, "missing"),
        (4, PLAIN, None, -1, "unanswered"),
        (5, PLAIN, 0, 0, "deleted"),
        (5, PLAIN, 0, 2, "damaged"),
        (5, PLAIN, 0, -1, "unknown"),
        (9, PLAIN, 0, 0, "elsewhere"),
    ]
    talker = TcpConnection().open()
    for number, (index, batch_, error, offset, _) in enumerate(sent):
        talker.ask(produce(batch_, correlation_id=number, partition=index))
        if error is not None:
            partition = {"index": index, "error_code": error, "base_offset": offset}
            response = {"responses": [{"name": "orders", "partition_responses": [partition]}]}
            talker.answer(wire.encode_response(PRODUCE, 9, number, response))
    capture = tmp_path / "a.pcap"
    capture.write_bytes(pcap_file(talker.close().packets))
    tables = {level: read(spark, str(capture), FORMAT, level=level) for level in ("batches", "partitions")}
    beside = {**tables, **stored_tables(spark, tables, [read_data_directory(str(data))])}
    rows = [row.asDict() for row in ordered("stored_batches", answered("stored_batches", beside)).collect()]
    assert [(row["partition"], row["log_start_offset"], row["log_end_offset"]) for row in rows] == [
        (4, 0, 12),
        (5, 2, 10),
        (9, None, None),
    ]
    counted = Counter((row["partition"], name) for row in rows for name in FATES for _ in range(row[name]))
    assert counted == Counter((index, fate) for index, *_, fate in sent)
    assert [row["batches"] for row in rows] == [6, 3, 1]
    commits = ordered("stored_commits", answered("stored_commits", beside)).collect()
    assert [(row.topic, row.captured_offset, row.stored_offset, row.state) for row in commits] == [
        ("orders", None, 0, "elsewhere"),
        ("others", None, 9, "elsewhere"),
    ]


@pytest.mark.parametrize(
    ("offset", "state", "left"),
    [(1, "deleted", None), (2, "in the log", 4), (6, "at its end", 0), (7, "beyond", None)],
)
def test_a_committed_offset_and_the_log(
    spark: SparkSession, tmp_path: Path, offset: int, state: str, left: int | None
) -> None:
    for folder, name, data in (
        ("orders-0", f"{2:020}.log", moved(PLAIN, 2)),
        ("__consumer_offsets-0", FIRST, committed(offset)),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_bytes(data)
    empty = {name: spark.createDataFrame([], struct_of(table(name))) for name in ("batches", "partitions")}
    beside = {**empty, **stored_tables(spark, empty, [read_data_directory(str(tmp_path))])}
    (row,) = answered("stored_commits", beside).collect()
    assert (row.stored_offset, row.state, row.records_left) == (offset, state, left)
    assert answered("stored_batches", beside).count() == 0


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
    kept = ("orders", "appended")
    rows = stored(batches, partitions, read(spark, str(folder))).where(f"topic in {kept}").collect()
    logs = [log for topic in kept for log in folder.glob(f"{topic}-*/*.log")]
    told = Counter(
        (f"{log.parent.name}/{log.name}", int(line["base"]))
        for log in logs
        for line in BATCH.finditer(dumped(version, "--files", log))
        if line["control"] == "false"
    )
    assert Counter((row.log_file, row.log_offset) for row in rows if row.stored is not None) == told
    # A broker that has just become the leader refuses, and the client tries again.
    refused = partitions.where(f"api_key = 0 and error_code <> 0 and topic in {kept}").count()
    assert sum(row.stored is None for row in rows) == refused
    assert len({row.producer_id >= 0 for row in rows}) == 2
    figure(f"batches of clients in the log of {version}", told.total())
    tables = {"batches": batches, "partitions": partitions}
    beside = {**tables, **stored_tables(spark, tables, [read_data_directory(str(folder))])}
    counted = [row for row in answered("stored_batches", beside).collect() if row.topic in kept]
    assert sum(row.in_log for row in counted) == told.total()
    assert sum(row.batches - row.in_log for row in counted) == sum(row.refused for row in counted) == refused
    commits = answered("stored_commits", beside).collect()
    assert {(row.group, row.topic, row.partition): row.stored_offset for row in commits} == _committed(version, folder)
    assert all(row.captured_offset == row.stored_offset and row.state == "in the log" for row in commits)
    figure(f"committed offsets of {version} as the decoder of kafka-dump-log has them", len(commits))


def _committed(version: str, folder: Path) -> dict[tuple[str, str, int], int]:
    """The last offset of every group and partition, as kafka-dump-log decodes them."""
    logs = ",".join(str(log) for log in sorted(folder.glob("__consumer_offsets-*/*.log")))
    found: dict[tuple[str, str, int], int] = {}
    for line in dumped(version, "--offsets-decoder", "--files", logs).splitlines():
        _, has_key, rest = line.partition(" key: ")
        key, _, value = rest.partition(" payload: ")
        if has_key and key.startswith("{") and int(json.loads(key)["type"]) == 1:
            data = json.loads(key)["data"]
            found[data["group"], data["topic"], data["partition"]] = json.loads(value)["data"]["offset"]
    return found
