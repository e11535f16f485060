"""`netdiag storage` on directories as brokers leave them, and on what somebody else put there."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

import jsonschema
import pytest

from netdiag.errors import InputError
from netdiag.io.files.data_directory import read_data_directory
from netdiag.kafka.storage import Segment
from tests.cli.shell import netdiag
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


def _made(folder: Path, files: Mapping[str, str] = FILES) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return folder


def test_as_text(tmp_path: Path) -> None:
    _made(tmp_path / "data")
    done = netdiag("storage", "data", cwd=tmp_path)
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
    done = netdiag("storage", "--json", str(_made(tmp_path / "a")), str(_made(tmp_path / "b")), cwd=tmp_path)
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
    [({"a.txt": ""}, b"is not a data directory of a broker"), ({}, b"no such file or directory")],
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
