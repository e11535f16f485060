"""The stream of a folder that fills: its rows, all batches together, are those of one look at all files."""

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

import netdiag.io.spark
from netdiag.io.spark.source import FORMAT
from tests.io.follow.folders import cut
from tests.io.follow.test_store import PACKETS
from tests.native.files import pcap_file


@pytest.fixture(autouse=True)
def registered(spark: SparkSession) -> None:
    netdiag.io.spark.register(spark)


class Streamed:
    """A stream of one level and what came of it, batch by batch."""

    def __init__(self, spark: SparkSession, base: Path, **options: str) -> None:
        self.spark = spark
        self.folder, self.base = base / "caps", base
        self.folder.mkdir(exist_ok=True)
        self.options = {"state": str(base / "state"), "partitions": "2", "lateness": "0.1", **options}
        self.batches: dict[int, list[str]] = {}

    def take(self, frame: DataFrame, number: int) -> None:
        self.batches[number] = [str(row) for row in frame.collect()]

    @contextmanager
    def running(self, **more: str) -> Iterator[StreamingQuery]:
        frame = self.spark.readStream.format(FORMAT).options(**self.options, **more).load(str(self.folder))
        writer = frame.writeStream.foreachBatch(self.take).trigger(processingTime="50 milliseconds")
        query = writer.option("checkpointLocation", (self.base / "spark").as_uri()).start()
        try:
            yield query
        finally:
            query.stop()

    def rows(self) -> Counter[str]:
        return Counter(row for batch in self.batches.values() for row in batch)

    def expected(self) -> Counter[str]:
        kept = {name: value for name, value in self.options.items() if name in ("level", "columns", "partitions")}
        return Counter(
            str(row) for row in self.spark.read.format(FORMAT).options(**kept).load(str(self.folder)).collect()
        )


@pytest.mark.parametrize(
    ("level", "columns"), [("exchanges", "broker,time,api_name,latency_ms,topics,file"), ("connections", "")]
)
def test_all_batches_together_are_what_one_look_gives(
    spark: SparkSession, tmp_path: Path, level: str, columns: str
) -> None:
    streamed = Streamed(spark, tmp_path, level=level, **({"columns": columns} if columns else {}))
    files = [pcap_file(packets) for packets in cut(PACKETS, 3, random.Random(2))]
    (streamed.folder / "a-1.pcap").write_bytes(files[0])
    with streamed.running() as query:
        query.processAllAvailable()
        (streamed.folder / "a-2.pcap").write_bytes(files[1])
        query.processAllAvailable()
    before = streamed.rows()
    (streamed.folder / "a-3.pcap").write_bytes(files[2])
    # It goes on where it was stopped, and gives what has no end yet when it is told that nothing more comes.
    with streamed.running(once="true") as query:
        query.processAllAvailable()
    assert before <= streamed.rows()
    assert streamed.rows() == streamed.expected()
    assert len(streamed.batches) >= 4
    assert streamed.rows().total() > 0


def test_what_cannot_be_streamed_is_said(spark: SparkSession, tmp_path: Path) -> None:
    state = str(tmp_path / "state")
    for options, path, said in (
        ({}, tmp_path, "a stream needs a folder for its state"),
        ({"state": state, "level": "packets"}, tmp_path, "level 'packets' cannot be streamed"),
        ({"state": state, "topics": "a"}, tmp_path, "a stream does not choose topics"),
        ({"state": state, "lateness": "-1"}, tmp_path, "lateness '-1' is no number of seconds"),
        ({"state": state}, tmp_path / "a.pcap", "is not a folder"),
    ):
        with pytest.raises(PySparkException, match=said):
            started(spark, str(path), options)
    assert list(tmp_path.iterdir()) == []


def started(spark: SparkSession, path: str, options: dict[str, str]) -> None:
    frame = spark.readStream.format(FORMAT).options(**options).load(path)
    frame.writeStream.format("noop").start().processAllAvailable()
