"""Following by Structured Streaming: the tables are those of one look at all files, also when it is killed."""

import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import StreamingQueryException

from netdiag.errors import NetdiagError
from netdiag.io.follow.store import Store, settings_of
from netdiag.io.spark import follow as following_with_spark
from netdiag.io.spark.follow import Done, Following, follow, taken
from netdiag.traffic.native import ReadOptions
from tests.figures import Report
from tests.io.follow.folders import cut, expected, stored
from tests.io.follow.killed import CLASSES, killed_again_and_again
from tests.io.follow.test_store import PACKETS
from tests.native.files import pcap_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def begun(base: Path) -> tuple[Store, Path]:
    caps = base / "caps"
    caps.mkdir()
    store = Store(checkpoint=base / "checkpoint", out=base / "out")
    store.checkpoint.mkdir(mode=0o700)
    store.begin(settings_of(str(caps), ReadOptions(), 2, 0.1, since_ns=None, until_ns=None))
    return store, caps


def test_a_folder_that_fills_is_taken_batch_by_batch(spark: "SparkSession", tmp_path: Path) -> None:
    store, caps = begun(tmp_path)
    following = Following(store=store, every=0.1, once=True)
    told: list[Done] = []
    for number, packets in enumerate(cut(PACKETS, 3, random.Random(5)), 1):
        (caps / f"a-{number}.pcap").write_bytes(pcap_file(packets))
        follow(spark, following, told.append)
        assert stored(store.out) == expected(caps, 2)
    assert [done.plan.batch for done in told] == [1, 2, 3]
    extract = taken(spark, store)
    assert (extract.seen.packets, len(extract.seen.files)) == (len(PACKETS), 3)
    assert extract.rows["exchanges"] == extract.tables["exchanges"].count() == told[-1].exchanges


@pytest.mark.parametrize("late", [1, 3])
def test_a_python_process_that_is_late_is_started_again(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late: int
) -> None:
    """As often as may be on a busy machine; not for ever."""
    store, caps = begun(tmp_path)
    (caps / "a-1.pcap").write_bytes(pcap_file(PACKETS))
    stream, tries = following_with_spark._stream, iter(range(late))

    def late_stream(*arguments: Any) -> None:
        if next(tries, None) is not None:
            raise StreamingQueryException("[STREAM_FAILED] Python worker failed to connect back.")
        stream(*arguments)

    monkeypatch.setattr(following_with_spark, "_stream", late_stream)
    told: list[Done] = []
    following = Following(store=store, every=0.1, once=True)
    if late == 3:
        with pytest.raises(NetdiagError, match="failed to connect back"):
            follow(spark, following, told.append)
        return
    follow(spark, following, told.append)
    assert len(told) == 1
    assert stored(store.out) == expected(caps, 2)


def test_killed_while_spark_wrote_of_its_first_batch(spark: "SparkSession", tmp_path: Path) -> None:
    store, caps = begun(tmp_path)
    (caps / "a-1.pcap").write_bytes(pcap_file(PACKETS))
    log = store.checkpoint / "spark" / "offsets"
    log.mkdir(parents=True)
    (log / ".0.8d1f1e0e-6f5c-4ba0-a9a3-5c3a9cf0a6ef.tmp").write_bytes(b"v1")
    following = Following(store=store, every=0.1, once=True)
    with pytest.raises(NetdiagError, match="NOT_EMPTY"):
        follow(spark, following, lambda done: None)
    store.begin(settings_of(str(caps), ReadOptions(), 2, 0.1, since_ns=None, until_ns=None))
    follow(spark, following, lambda done: None)
    assert stored(store.out) == expected(caps, 2)


def test_a_damaged_state_is_one_line(spark: "SparkSession", tmp_path: Path) -> None:
    store, caps = begun(tmp_path)
    following = Following(store=store, every=0.1, once=True)
    (caps / "a-1.pcap").write_bytes(pcap_file(PACKETS[:50]))
    follow(spark, following, lambda done: None)
    (store.checkpoint / "state" / "00000001" / "class-001").write_bytes(b"netdiag state 1\n" + bytes(100))
    (caps / "a-2.pcap").write_bytes(pcap_file(PACKETS[50:]))
    with pytest.raises(NetdiagError) as raised:
        follow(spark, following, lambda done: None)
    assert "class-001" in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.bar("follow-killed", long=True)
def test_killed_twice_it_gives_the_same_rows(java: str, tmp_path: Path) -> None:
    del java
    killed(tmp_path, 3, longest=6.0)


@pytest.mark.bar("follow-killed", long=True)
def test_killed_at_twenty_random_moments(java: str, tmp_path: Path, figure: Report) -> None:
    del java
    count = killed(tmp_path, 23, longest=8.0)
    figure("killed while it worked", count, "times of 22")
    assert count >= 20


def killed(base: Path, files: int, *, longest: float) -> int:
    """Kill it once for every file but the last; how often it had not ended by then."""
    chance = random.Random(files)
    captures = [pcap_file(packets) for packets in cut(PACKETS, files, chance)]
    count = killed_again_and_again(base, captures, chance, "--spark", longest=longest)
    assert stored(base / "out") == expected(base / "caps", CLASSES)
    return count
