"""Captures behind a file system of Hadoop: found through Java, brought as files of the job, read like others.

viewfs stands for them all: another scheme, another root, and no path that this machine could open.
"""

import gzip
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from netdiag.errors import InputError
from netdiag.io.spark.extraction import extract
from netdiag.io.spark.hadoop_files import bring, found_on_hadoop, is_on_hadoop, located, plain
from netdiag.io.spark.reading import Reading
from netdiag.traffic.native import ReadOptions
from tests.native.conversations import capture

ROOT = "viewfs://netdiag-tests/captures"


@pytest.fixture(scope="module")
def folder(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What lies behind ROOT: two captures, of which one is compressed, and what is none."""
    folder = tmp_path_factory.mktemp("elsewhere")
    capture(folder / "elsewhere-a.pcap")
    (folder / "elsewhere-b.pcap.gz").write_bytes(
        gzip.compress(Path(capture(folder / "plain", 2, port=9093)).read_bytes())
    )
    (folder / "plain").unlink()
    (folder / "readme.txt").write_text("no capture")
    (folder / ".hidden").write_bytes((folder / "elsewhere-a.pcap").read_bytes())
    (folder / "deeper").mkdir()
    settings = spark.sparkContext._jsc.hadoopConfiguration()
    settings.set("fs.viewfs.mounttable.netdiag-tests.link./captures", folder.as_uri())
    return folder


@pytest.mark.parametrize(
    ("path", "elsewhere"),
    [
        ("a.pcap", False),
        ("/a//b", False),
        ("file:///a.pcap", False),
        ("hdfs://name:8020/a", True),
        ("s3a://bucket/a", True),
        ("C:\\a", False),
    ],
)
def test_what_is_elsewhere(path: str, elsewhere: bool) -> None:
    assert is_on_hadoop(path) == elsewhere


def test_file_is_here() -> None:
    assert [plain(path) for path in ("file:///a/b.pcap", "a.pcap", "file://host/a")] == [
        "/a/b.pcap",
        "a.pcap",
        "file://host/a",
    ]


def test_folders_patterns_and_files(spark: SparkSession, folder: Path) -> None:
    whole = found_on_hadoop(spark, [ROOT])
    assert sorted(each.address for each in whole) == [f"{ROOT}/elsewhere-a.pcap", f"{ROOT}/elsewhere-b.pcap.gz"]
    assert {each.size for each in whole} == {path.stat().st_size for path in folder.glob("elsewhere-*")}
    assert found_on_hadoop(spark, [f"{ROOT}/*.gz", f"{ROOT}/elsewhere-b.pcap.gz"]) == tuple(
        each for each in whole if each.address.endswith(".gz")
    )


@pytest.mark.usefixtures("folder")
def test_what_leads_nowhere(spark: SparkSession) -> None:
    for address, said in (
        (f"{ROOT}/absent.pcap", "no capture is there"),
        (f"{ROOT}/deeper", "no capture is there"),
        ("nonsense://host/a.pcap", "nonsense"),
    ):
        with pytest.raises(InputError, match=said) as caught:
            found_on_hadoop(spark, [address])
        assert caught.value.where == address
        assert "\n" not in str(caught.value)


def test_rows_are_those_of_the_files(spark: SparkSession, folder: Path, tmp_path: Path) -> None:
    captures = found_on_hadoop(spark, [ROOT])
    bring(spark, captures)
    addresses = tuple(each.address for each in captures)
    reading = Reading(paths=addresses, names=addresses, options=ReadOptions())
    made = extract(spark, reading, str(tmp_path), tasks=2, size=1)
    assert made.rows["exchanges"] == 12 * 3 + 2 * 3
    assert {row["file"] for row in made.tables["exchanges"].select("file").distinct().collect()} == set(addresses)
    assert folder.exists()


def test_what_is_here_stays_as_it_is() -> None:
    reading = Reading(paths=("a.pcap",), options=ReadOptions())
    assert located(reading) is reading
