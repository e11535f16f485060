"""What looks wrong in a data directory, and is what a broker is about to do."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import netdiag.io.files.stored_state as states
from netdiag.app.progress import Silent
from netdiag.app.storage import StorageQuery, read_storage, read_storage_table
from netdiag.io.files.data_directory import read_data_directory
from netdiag.io.files.log_files import log_files
from netdiag.io.files.log_problems import LogProblem, lasting, log_problems
from netdiag.kafka import protocol as wire
from netdiag.kafka.storage import DataDirectory
from netdiag.kafka.stored_state import StoredState
from netdiag.render.screen import Screen
from netdiag.render.storage import storage_text
from netdiag.traffic.native import LogFile
from netdiag.traffic.tables import table
from tests.native.conversations import batch
from tests.native.log_files import moved

FIRST, SECOND = f"{0:020}.log", f"{4:020}.log"
ONE = batch()
LOG = f"orders-0/{FIRST}"
INDEX = f"orders-0/{0:020}.index"
# The second batch, at a byte where none begins.
WRONG_INDEX = (7).to_bytes(4) + (len(ONE) - 1).to_bytes(4)


def made(folder: Path, log: bytes, partition: str = "orders-0") -> Path:
    (folder / "meta.properties").write_text("version=1\nnode.id=1\ncluster.id=abc\n")
    (folder / partition).mkdir()
    (folder / partition / FIRST).write_bytes(log)
    return folder


def found_in(folder: Path) -> list[LogProblem]:
    files = list(log_files(read_data_directory(str(folder)), frozenset(), ""))
    names = table("log_problems").names
    return [LogProblem(*row) for ready in log_problems(files, names) for row in ready.rows()]


def append(data: bytes) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        (folder / LOG).write_bytes((folder / LOG).read_bytes() + data)

    return change


@pytest.mark.parametrize(
    ("log", "index", "change", "left", "changed"),
    [
        pytest.param(ONE[:-9], b"", append(ONE[-9:]), [], [LOG], id="a batch that was being written"),
        pytest.param(ONE[:-9], b"", append(b""), ["truncated"], [], id="a batch that ends too early"),
        pytest.param(
            ONE[:-1] + b"?" + b"garbage" * 9,
            b"",
            append(b"more"),
            ["checksum", "garbage"],
            [],
            id="damage in a log that grows",
        ),
        pytest.param(ONE[:-9], b"", lambda folder: (folder / LOG).unlink(), [], [LOG], id="deleted"),
        pytest.param(
            ONE + moved(ONE, 4),
            WRONG_INDEX,
            lambda folder: (folder / INDEX).write_bytes(WRONG_INDEX[:4] + len(ONE).to_bytes(4)),
            [],
            [INDEX],
            id="an entry of an index that was half written",
        ),
        pytest.param(ONE + moved(ONE, 4), WRONG_INDEX, append(b""), ["index"], [], id="an entry that is wrong"),
    ],
)
def test_what_lasts(
    tmp_path: Path, log: bytes, index: bytes, change: Callable[[Path], object], left: list[str], changed: list[str]
) -> None:
    folder = made(tmp_path, log)
    (folder / INDEX).write_bytes(index)
    files = list(log_files(read_data_directory(str(folder)), frozenset(), ""))
    found = found_in(folder)
    assert found
    change(folder)
    still = lasting(files, found)
    assert [problem.kind for problem in still.problems] == left
    assert list(still.changed) == changed


def test_entries_of_an_index_that_a_broker_has_open(tmp_path: Path) -> None:
    """Its log was cut off: entries stay as they are until others are written over them."""
    folder = made(tmp_path, ONE)
    (folder / INDEX).write_bytes(WRONG_INDEX)
    assert [problem.file for problem in found_in(folder)] == [INDEX]
    (folder / INDEX).write_bytes(WRONG_INDEX + bytes(80))
    assert found_in(folder) == []
    (folder / INDEX).unlink()
    os.mkfifo(folder / INDEX)
    assert [problem.detail for problem in found_in(folder)] == ["is not a regular file"]


def test_a_snapshot_of_producers_that_is_being_made(tmp_path: Path) -> None:
    folder = made(tmp_path, ONE)
    snapshot = folder / "orders-0" / f"{4:020}.snapshot"
    snapshot.write_bytes(b"")
    assert found_in(folder) == []
    snapshot.write_bytes(b"\0")
    assert [problem.detail for problem in found_in(folder)] == ["ends after 1 bytes"]


def test_segments_that_a_broker_deletes_are_told_and_no_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(tmp_path, ONE)
    (folder / "orders-0" / SECOND).write_bytes(moved(ONE, 4))
    (folder / "orders-0" / f"{4:020}.snapshot").write_bytes(b"")
    (folder / "replication-offset-checkpoint").write_text("0\n1\norders 0 8\n")

    def listed(path: str, **options: object) -> DataDirectory:
        found = read_data_directory(path)
        for path_ in (folder / "orders-0").glob(f"{4:020}.*"):
            path_.unlink()
        return found

    monkeypatch.setattr("netdiag.app.storage.read_data_directory", listed)
    (one,) = read_storage(StorageQuery(names=(str(folder),)))
    assert one.problems == ()
    assert one.changed == (f"orders-0/{SECOND}", f"orders-0/{4:020}.snapshot")
    (text,) = [line for line in storage_text([one], Screen(width=200)).splitlines() if "changed" in line]
    says = "changed while netdiag read: not all of what the broker wrote there counts"
    assert text == f"  orders-0/{SECOND} and 1 more {says}"


class Told(Silent):
    """Keeps notices."""

    def __init__(self) -> None:
        self.notices: list[str] = []

    def notice(self, text: str) -> None:
        self.notices.append(text)


def test_rows_lack_what_went_away_and_that_is_told(tmp_path: Path) -> None:
    folder, told = made(tmp_path, ONE), Told()
    query = StorageQuery(names=(str(folder),))
    for name, count in (("log_batches", 1), ("log_problems", 0)):
        rows = read_storage_table(query, name, table(name).names, listener=told)
        assert sum(len(ready) for ready in rows) == count
    assert told.notices == []
    ready = read_storage_table(query, "log_batches", ["base_offset"], listener=told)
    assert len(next(ready)) == 1
    (folder / LOG).unlink()
    assert list(ready) == []
    assert told.notices == [f"{LOG} went away while netdiag read: a broker is writing"]


@pytest.mark.parametrize("later", [ONE, ONE[:-9]])
def test_a_copy_of_what_a_broker_writes_is_held_against_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, later: bytes
) -> None:
    """The engine copies a file as it is at that moment; a second look at the copy would tell nothing else."""
    copies = []
    for number, log in enumerate((ONE[:-9], later)):
        (tmp_path / str(number)).mkdir()
        copies.append(read_data_directory(str(made(tmp_path / str(number), log))))
    given = iter(copies)
    monkeypatch.setattr("netdiag.app.storage._read", lambda *_: next(given))
    (one,) = read_storage(StorageQuery(names=("container:kafka",)))
    is_damaged = later != ONE
    assert [problem.path for problem in one.problems] == [LOG] * is_damaged
    assert one.changed == (() if is_damaged else (LOG,))


@pytest.mark.parametrize("runs", [True, False])
def test_checkpoints_of_a_log_that_was_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runs: bool) -> None:
    folder = made(tmp_path, ONE)
    watermarks = folder / "replication-offset-checkpoint"
    watermarks.write_text("0\n1\norders 0 9\n")

    def passes(seconds: float) -> None:
        if runs:
            watermarks.write_text("0\n1\norders 0 4\n")
        # Time goes by, too.
        os.utime(watermarks, (0, 0))

    monkeypatch.setattr("netdiag.io.files.data_directory.time.sleep", passes)
    (one,) = read_storage(StorageQuery(names=(str(folder),)))
    told = [] if runs else ["the high watermark is 9, and the log ends at 4"]
    assert [problem.message for problem in one.problems] == told


def test_a_partition_that_is_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made(tmp_path, ONE)
    (folder / "anew-0").mkdir()
    scan = os.scandir

    def deleted(path: str) -> object:
        if path.endswith("anew-0"):
            (folder / "anew-0").rmdir()
        return scan(path)

    monkeypatch.setattr("netdiag.io.files.data_directory.os.scandir", deleted)
    found = read_data_directory(str(folder))
    assert (found.problems, found.changed) == ((), ("anew-0",))


def test_what_internal_topics_say_is_read_again_where_they_are_compacted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two segments become one, after the first one was read as it was."""
    name, partition = "__consumer_offsets", "__consumer_offsets-0"
    first, second = (_committed(name, topic) for topic in ("orders", "others"))
    folder = made(tmp_path, first, partition)
    (folder / partition / f"{1:020}.log").write_bytes(moved(second, 1))
    reading = states.state_of
    looks: list[list[str]] = []

    def compacted(files: Sequence[LogFile], begins: int, tell: Callable[[int], None] | None, most: int) -> StoredState:
        if not looks:
            (folder / partition / FIRST).write_bytes(first + moved(second, 1))
            (folder / partition / f"{1:020}.log").unlink()
        looks.append([os.path.basename(file.path) for file in files])
        # What was opened before.
        return reading(files[:0] if len(looks) == 1 else files, begins, tell, most)

    monkeypatch.setattr(states, "state_of", compacted)
    state = states.stored_state(read_data_directory(str(folder)), frozenset())
    assert looks == [[FIRST, f"{1:020}.log"], [FIRST]]
    assert [(commit.topic, commit.offset) for commit in state.commits] == [("orders", 2), ("others", 2)]
    assert not state.is_cut


def _committed(name: str, topic: str) -> bytes:
    key = wire.encode_layout(
        wire.stored_layout(name, 1, "key", 0), {"group": "billing", "topic": topic, "partition": 0}
    )
    value = wire.encode_layout(wire.stored_layout(name, 1, "value", 3), {"offset": 2})
    return batch([((1).to_bytes(2) + key, (3).to_bytes(2) + value, [])])
