"""`netdiag storage` on directories as brokers leave them, and on what somebody else put there."""

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import jsonschema
import pytest

from netdiag.app.storage import StorageQuery, read_storage
from netdiag.errors import InputError
from netdiag.io.files.data_directory import read_data_directory
from netdiag.kafka import protocol as wire
from netdiag.kafka.storage import Segment
from netdiag.render.screen import Screen
from netdiag.render.storage import storage_json, storage_text
from tests.cli.shell import NETDIAG, environment, netdiag
from tests.native.conversations import Written, batch
from tests.native.log_files import moved, packed
from tests.render.schemas import strict_schema

SCHEMA = strict_schema("storage.v1.json")
FIRST = "00000000000000000000"
# What a broker of 4.3.1 leaves, with logs of other sizes.
FILES: Mapping[str, str] = {
    "meta.properties": "#\nnode.id=1\ndirectory.id=cxhPKY0o_-mh6w\nversion=1\ncluster.id=MkU3OEVBNTcwNTJENDM2Qg\n",
    ".kafka_cleanshutdown": '{"version":0,"brokerEpoch":16}',
    "recovery-point-offset-checkpoint": "0\n2\norders 0 7615\n__consumer_offsets 0 4\n",
    "replication-offset-checkpoint": "0\n2\norders 0 7610\n__consumer_offsets 0 4\n",
    "log-start-offset-checkpoint": "0\n1\norders 0 100\n",
    f"orders-0/{FIRST}.log": "x" * 1500,
    f"orders-0/{FIRST}.index": "",
    f"orders-0/{FIRST}.log.deleted": "x" * 999,
    "orders-0/00000000000000007000.log": "x" * 500,
    "orders-0/leader-epoch-checkpoint": "0\n2\n0 0\n3 7000\n",
    "orders-0/partition.metadata": "version: 0\ntopic_id: paaSdHjnTeCKKjN77gaXKg",
    f"__consumer_offsets-0/{FIRST}.log": "x" * 653,
    f"gone-2.{'0a' * 16}-delete/{FIRST}.log": "x",
}
SIZE = len(batch([(b"k", b"secret", [])]))
Stored = tuple[int, Mapping[str, object] | None, int | None, Mapping[str, object]]


def _stored(topic: str, *records: Stored) -> bytes:
    """A batch of records of an internal topic: number of the kind, key, version and fields of the value."""
    written: list[Written] = []
    for kind, key, version, fields in records:
        value = (
            None if version is None else wire.encode_layout(wire.stored_layout(topic, kind, "value", version), fields)
        )
        if key is None:
            written.append((None, bytes([1, kind, version or 0]) + (value or b""), []))
        else:
            head = kind.to_bytes(2) + wire.encode_layout(wire.stored_layout(topic, kind, "key", 0), key)
            written.append((head, None if version is None else version.to_bytes(2) + (value or b""), []))
    return batch(written)


def _made(folder: Path, files: Mapping[str, str] = FILES) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return folder


def test_as_text(tmp_path: Path) -> None:
    _made(tmp_path / "data")
    done = netdiag("storage", "--no-logs", "data", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    lines = done.stdout.decode().splitlines()
    assert lines[0] == "data: node 1 of cluster MkU3OEVBNTcwNTJENDM2Qg, formatted for KRaft"
    assert lines[1] == "  shut down cleanly in broker epoch 16; 3 partitions, 2,654 bytes of logs"
    rows = {words[0]: words[1:] for line in lines[4:] if (words := line.split())}
    assert rows["orders-0"] == ["2,000", "2", "100", "7,610", "7,615", "3"]
    assert rows["__consumer_offsets-0"] == ["653", "1", "-", "4", "4", "-"]
    # A folder that is to be deleted has no offsets, whatever a partition of its name has.
    assert rows[f"gone-2.{'0a' * 16}-delete"] == ["1", "1", "-", "-", "-", "-"]


def test_as_json(tmp_path: Path) -> None:
    done = netdiag(
        "storage", "--json", "--no-logs", str(_made(tmp_path / "a")), str(_made(tmp_path / "b")), cwd=tmp_path
    )
    document = json.loads(done.stdout)
    jsonschema.validate(document, SCHEMA)
    first, second = document["directories"]
    assert {**first, "path": ""} == {**second, "path": ""}
    assert (first["node_id"], first["cluster_id"], first["clean_shutdown"]) == (1, "MkU3OEVBNTcwNTJENDM2Qg", True)
    assert {one["folder"]: one["kind"] for one in first["partitions"]} == {
        "__consumer_offsets-0": "current",
        f"gone-2.{'0a' * 16}-delete": "deleted",
        "orders-0": "current",
    }
    assert first["partitions"][-1]["leader_epochs"] == [
        {"epoch": 0, "start_offset": 0},
        {"epoch": 3, "start_offset": 7000},
    ]


def test_what_cannot_be_read_is_told_and_the_rest_is_shown(tmp_path: Path) -> None:
    data = _made(tmp_path / "data", {**FILES, "meta.properties": "version=7\n", "orders-0/partition.metadata": "?"})
    (data / "replication-offset-checkpoint").write_bytes(b"0\n1\n\xff\xfe 0 1\n")
    done = netdiag("storage", "data", cwd=tmp_path)
    assert done.returncode == 1
    text = done.stdout.decode()
    assert "no meta.properties that can be read" in text
    assert "meta.properties: Unknown meta.properties version number 7" in text
    assert "orders-0/partition.metadata: has version '', which is not 0" in text
    assert "replication-offset-checkpoint: is not text" in text
    assert "orders-0" in text


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.txt": ""}, b"is not a data directory of a broker"),
        # ZooKeeper's.
        ({"version-2/log.1": "", "version-2/snapshot.0": ""}, b"is not a data directory of a broker"),
        ({}, b"no such file or directory"),
    ],
)
def test_what_is_no_data_directory(tmp_path: Path, files: Mapping[str, str], message: bytes) -> None:
    _made(tmp_path / "data", files)
    done = netdiag("storage", "data", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, b"")
    assert message in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_name_cannot_reach_the_terminal(tmp_path: Path) -> None:
    data = _made(tmp_path / "da\x1b[31mta", {"meta.properties": "version=1\ncluster.id=\x1b]0;x\x07\nnode.id=1\n"})
    done = netdiag("storage", str(data), cwd=tmp_path)
    assert done.returncode == 0
    assert b"\x1b" not in done.stdout


def test_links_and_pipes_are_not_followed(tmp_path: Path) -> None:
    data = _made(tmp_path / "data")
    (tmp_path / "secret").write_text("version=1\ncluster.id=secret\nnode.id=9\n")
    (data / "meta.properties").unlink()
    (data / "meta.properties").symlink_to(tmp_path / "secret")
    (data / "orders-1").symlink_to(tmp_path)
    (data / "orders-0" / "leader-epoch-checkpoint").unlink()
    os.mkfifo(data / "orders-0" / "leader-epoch-checkpoint")
    found = read_data_directory(str(data))
    assert found.meta is None
    assert [one.folder for one in found.partitions] == [
        "__consumer_offsets-0",
        f"gone-2.{'0a' * 16}-delete",
        "orders-0",
    ]
    assert {one.path: one.message for one in found.problems} == {
        "meta.properties": "is a link, which netdiag does not follow",
        "orders-1": "is a link, which netdiag does not follow",
        "orders-0/leader-epoch-checkpoint": "is no file of at most 65,536 bytes to be read",
    }


def test_what_is_looked_at_is_limited(tmp_path: Path) -> None:
    data = _made(tmp_path / "data", {"meta.properties": "", **{f"t-0/{n:020}.log": "" for n in range(50)}})
    whole, part = read_data_directory(str(data)), read_data_directory(str(data), most_names=20)
    assert (whole.is_cut, len(whole.partitions[0].segments)) == (False, 50)
    assert part.is_cut
    assert len(part.partitions[0].segments) == 18
    assert whole.partitions[0].segments[0] == Segment(offset=0, size=0)


def test_nothing_is_changed(tmp_path: Path) -> None:
    data = _made(tmp_path / "data")
    before = {path: (path.stat().st_mtime_ns, path.is_file() and path.read_bytes()) for path in data.rglob("*")}
    read_data_directory(str(data))
    assert before == {path: (path.stat().st_mtime_ns, path.is_file() and path.read_bytes()) for path in data.rglob("*")}


def test_a_file_in_its_place(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a directory"):
        read_data_directory(str(_made(tmp_path, {"data": ""}) / "data"))


LOGS: Mapping[str, bytes] = {
    "orders-0": batch([(b"k", b"secret", [])]) + moved(packed(batch([(b"k", b"v", [])] * 3), 4), 1),
    "__consumer_offsets-0": _stored(
        "__consumer_offsets",
        (1, {"group": "billing", "topic": "orders", "partition": 0}, 3, {"offset": 2}),
        (1, {"group": "billing", "topic": "orders", "partition": 0}, 3, {"offset": 3, "metadata": "a\x1b[31m"}),
        (1, {"group": "gone", "topic": "orders", "partition": 0}, 3, {"offset": 9}),
        (1, {"group": "gone", "topic": "orders", "partition": 0}, None, {}),
        (2, {"group": "billing"}, 3, {"protocol_type": "consumer", "generation": 4}),
    ),
    "__cluster_metadata-0": _stored(
        "__cluster_metadata",
        (0, None, 1, {"broker_id": 1, "broker_epoch": 7, "end_points": ({"name": "A", "host": "h", "port": 1},)}),
        (17, None, 0, {"broker_id": 1, "broker_epoch": 7, "fenced": 1}),
        (12, None, 0, {"name": "metadata.version", "feature_level": 21}),
        (2, None, 0, {"name": "orders"}),
        (11, None, 0, {"name": "alice", "salt": b"salt", "stored_key": b"key", "server_key": b"key"}),
    ),
}


def _logs(folder: Path, logs: Mapping[str, bytes] = LOGS) -> Path:
    for name, data in logs.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / f"{FIRST}.log").write_bytes(data)
    (folder / "meta.properties").write_text("version=1\ncluster.id=abc\nnode.id=1\n")
    return folder


def test_what_logs_hold_as_text(tmp_path: Path) -> None:
    _logs(tmp_path / "data")
    done = netdiag("storage", "data", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode()
    rows = {words[0]: words[1:] for line in text.splitlines() if (words := line.split())}
    size = f"{len(LOGS['orders-0']):,}"
    assert rows["orders-0"] == [size, "1", "2", "4", "0", "4", "-", "-", "none,", "zstd"]
    assert "broker 1 registered A://h:1, epoch 7, fenced" in text
    assert "features: metadata.version 21; 1 topic" in text
    assert "group billing: classic, 0 members in generation 4; committed orders-0 3" in text
    assert "gone" not in text
    assert "\x1b" not in text


def test_what_logs_hold_as_json(tmp_path: Path) -> None:
    done = netdiag("storage", "--json", str(_logs(tmp_path)), cwd=tmp_path)
    document = json.loads(done.stdout)
    jsonschema.validate(document, SCHEMA)
    (one,) = document["directories"]
    assert one["logs_read"]
    assert one["committed_offsets"][0]["offset"] == 3
    assert {each["folder"]: each["log"]["end_offset"] for each in one["partitions"]} == {
        "__cluster_metadata-0": 5,
        "__consumer_offsets-0": 5,
        "orders-0": 4,
    }


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--table", "batches", "--topic", "orders", "--columns", "position,records"), ["0,1", f"{SIZE},3"]),
        (("--table", "records", "--topic", "orders", "--columns", "offset,key"), ["0,", "1,", "2,", "3,"]),
        (("--table", "records", "--topic", "orders", "--payloads", "--columns", "value"), ["secret", "v", "v", "v"]),
        (("--table", "segments", "--topic", "orders", "--columns", "topic,batches"), ["orders,2"]),
        (("--table", "committed_offsets", "--columns", "group,offset"), ["billing,3"]),
        (
            ("--table", "stored_records", "--topic", "__consumer_offsets", "--columns", "type"),
            [*["OffsetCommit"] * 4, "GroupMetadata"],
        ),
    ],
)
def test_rows(tmp_path: Path, options: Sequence[str], expected: Sequence[str]) -> None:
    done = netdiag("storage", *options, "--format", "csv", str(_logs(tmp_path)), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().splitlines()[1:] == expected


def test_nor_is_it_shown_as_a_payload(tmp_path: Path) -> None:
    _logs(tmp_path / "data")
    words = ("storage", "data", "--table", "records", "--topic", "__cluster_metadata", "--payloads")
    done = netdiag(*words, "--columns", "offset,value,value_bytes", cwd=tmp_path)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rows) == 5
    assert all(row["value_bytes"] > 0 and row.get("value") is None for row in rows)


def test_what_is_kept_of_internal_topics_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    query = StorageQuery(names=(str(_logs(tmp_path / "data")),))
    (whole,) = read_storage(query)
    monkeypatch.setattr("netdiag.io.files.stored_state.MOST_STORED_BYTES", 100)
    (part,) = read_storage(query)
    assert (whole.state.is_cut, part.state.is_cut) == (False, True)
    assert "there are more records of internal topics than netdiag reads" in storage_text([part], Screen(width=100))
    assert json.loads(storage_json([part]))["directories"][0]["complete"] is False


def test_what_somebody_can_log_in_with_is_hidden(tmp_path: Path) -> None:
    done = netdiag("storage", "--table", "stored_records", str(_logs(tmp_path)), cwd=tmp_path)
    value = json.loads(json.loads(done.stdout.splitlines()[4])["value"])
    assert (value["name"], value["salt"], value["stored_key"], value["server_key"]) == ("alice", *["[hidden]"] * 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--payloads",), b"keys and values are in --table records only"),
        (("--format", "csv"), b"--format and --columns are about the rows of a table"),
        (("--table", "batches", "--json"), b"does not go with --json"),
        (("--table", "batches", "--columns", "x"), b"no column 'x' in log_batches"),
    ],
)
def test_options_that_do_not_go_together(tmp_path: Path, options: Sequence[str], message: bytes) -> None:
    done = netdiag("storage", *options, str(_logs(tmp_path)), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert message in done.stderr


def test_problems_of_logs(tmp_path: Path) -> None:
    _logs(tmp_path, {**LOGS, "orders-0": LOGS["orders-0"][:-1]})
    (tmp_path / "replication-offset-checkpoint").write_text("0\n1\norders 0 4\n")
    # No broker runs, who would write it again.
    os.utime(tmp_path / "replication-offset-checkpoint", (0, 0))
    done = netdiag("storage", ".", cwd=tmp_path)
    assert done.returncode == 1
    text = " ".join(done.stdout.decode().split())
    assert f"orders-0/{FIRST}.log: ends with {len(LOGS['orders-0']) - SIZE - 1} bytes of a batch" in text
    assert "orders-0: the high watermark is 4, and the log ends at 1" in text
    done = netdiag("storage", "--table", "problems", "--columns", "kind", "--format", "csv", ".", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, b"kind\ntruncated\n")
    done = netdiag("storage", "--table", "problems", str(_logs(tmp_path)), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, b"")


_NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to be somebody else")
@pytest.mark.parametrize(
    ("forbidden", "status", "said"),
    [
        (".", 3, "netdiag: data: permission denied"),
        ("orders-0", 1, "orders-0: permission denied"),
        (f"orders-0/{FIRST}.log", 1, f"orders-0/{FIRST}.log: cannot be read: permission denied"),
        ("meta.properties", 1, "meta.properties: is no file of at most 65,536 bytes to be read"),
    ],
)
def test_whoever_has_no_rights_gets_a_line(forbidden: str, status: int, said: str) -> None:
    # Folders of the test run are nobody else's.
    with TemporaryDirectory() as base:
        os.chmod(base, 0o755)
        data = _logs(Path(base) / "data")
        (data / forbidden).chmod(0)
        before = _bytes_of(data)
        done = subprocess.run(
            [*_NOBODY, *NETDIAG, "storage", "data"],
            cwd=base,
            env=environment({"HOME": "/"}),
            capture_output=True,
            check=False,
            timeout=60,
        )
        text = (done.stdout + done.stderr).decode()
        assert (done.returncode, text.count(said), "Traceback" in text) == (status, 1, False), text
        assert ("run netdiag as root, or as the user of the broker" in text) == (status == 3)
        assert _bytes_of(data) == before


def _bytes_of(data: Path) -> Mapping[str, tuple[int, bytes]]:
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in data.rglob("*") if path.is_file()}


def test_logs_are_not_changed_by_reading_them(tmp_path: Path) -> None:
    data = _logs(tmp_path / "data", {**LOGS, "orders-0": LOGS["orders-0"][:-1] + bytes(100)})
    before = _bytes_of(data)
    for words in ((), ("--json",), ("--table", "records", "--payloads"), ("--table", "committed_offsets")):
        assert b"Traceback" not in netdiag("storage", "data", *words, cwd=tmp_path).stderr
    assert _bytes_of(data) == before
