"""The engine's rows as Parquet: whole parts only, the same rows however many tasks."""

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from netdiag.io.spark.extraction import extract, extract_here, write_part
from netdiag.io.spark.reading import Reading
from netdiag.traffic.arrow import schema_of
from netdiag.traffic.native import ReadOptions
from netdiag.traffic.tables import NAMES, TOGETHER, table
from tests.bench.making import make
from tests.native.conversations import START, capture


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    return capture(tmp_path_factory.mktemp("captures") / "a.pcap")


def written(folder: Path, name: str) -> Counter[str]:
    return Counter(str(row) for part in folder.glob(f"{name}/*.parquet") for row in pq.read_table(part).to_pylist())


def test_tables_and_what_was_read(spark: SparkSession, path: str, tmp_path: Path) -> None:
    told: list[tuple[float, int]] = []
    reading = Reading(paths=(path,), options=ReadOptions())
    size = Path(path).stat().st_size
    made = extract(
        spark, reading, str(tmp_path), tasks=3, size=size, tell=lambda share, packets: told.append((share, packets))
    )
    assert (made.seen.packets, made.seen.first, made.seen.bytes) == (144, START * 1_000_000, size)
    assert made.rows["exchanges"] == made.tables["exchanges"].count() == 36
    assert made.rows["names"] == 0
    assert made.tables["names"].columns == list(table("names").names)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == sorted(NAMES)
    for name in NAMES:
        found_by_spark = spark.read.parquet(str(tmp_path / name)).schema
        assert made.tables[name].schema == found_by_spark, name
    assert all(0 <= share <= 1 for share, _ in told)


def test_a_task_that_is_tried_again_changes_nothing(path: str, tmp_path: Path) -> None:
    whole = Reading(paths=(path,), options=ReadOptions())
    for name in (*NAMES, ".attempts"):
        (tmp_path / "one" / name).mkdir(parents=True)
        (tmp_path / "two" / name).mkdir(parents=True)
    write_part(whole, str(tmp_path / "one"), 0)
    for number in (0, 1, 0):
        write_part(whole.share(number, 2), str(tmp_path / "two"), number)
    for name in NAMES:
        assert written(tmp_path / "one", name) == written(tmp_path / "two", name), name
        part = next((tmp_path / "one" / name).iterdir())
        assert pq.read_schema(part).names == schema_of(table(name)).names
    assert sum(written(tmp_path / "one", "exchanges").values()) == 36


def test_a_task_that_fails_leaves_no_part(path: str, tmp_path: Path) -> None:
    for name in (*NAMES, ".attempts"):
        (tmp_path / name).mkdir()
    cut = tmp_path / "gone.pcap"
    cut.write_bytes(b"no capture at all")
    with pytest.raises(Exception, match="gone"):
        write_part(Reading(paths=(str(cut),), options=ReadOptions()), str(tmp_path), 0)
    assert [entry.name for name in NAMES for entry in (tmp_path / name).iterdir()] == []


def test_row_groups_of_one_number_hold_the_same_exchanges(tmp_path: Path) -> None:
    capture = tmp_path / "large.pcap"
    make(capture, 150_000_000, connections=10)
    extract_here(Reading(paths=(str(capture),), options=ReadOptions()), str(tmp_path))
    files = {name: pq.ParquetFile(tmp_path / name / "part-00000.parquet") for name in TOGETHER}
    (groups,) = {file.num_row_groups for file in files.values()}
    assert groups > 1
    for number in range(groups):
        keys = {name: keys_of(file.read_row_group(number)) for name, file in files.items()}
        assert keys["partitions"] <= keys["exchanges"]
        assert keys["batches"] <= keys["partitions"]
    assert sum(len(keys_of(files["partitions"].read_row_group(number))) for number in range(groups)) > 0


def keys_of(rows: pa.Table) -> set[tuple[object, ...]]:
    return {tuple(row.values()) for row in rows.select(["connection", "correlation_id", "time"]).to_pylist()}
