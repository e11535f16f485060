"""`netdiag storage` beside brokers that roll, delete, compact and cut off logs, and change their leaders."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.bars.busy_brokers import Busy, busy_brokers
from tests.bars.data_directories import VERSIONS
from tests.cli.shell import netdiag
from tests.figures import Report
from tests.render.schemas import strict_schema

SCHEMA = strict_schema("storage.v1.json")
LOOKS = 40
# Every so many looks the brokers stand still, wherever they are.
FROZEN = 5
NODES = ("1", "2")


@pytest.mark.bar("storage-beside", long=True)
@pytest.mark.parametrize("version", VERSIONS)
def test_what_brokers_are_writing_is_no_problem(version: str, tmp_path: Path, figure: Report) -> None:
    changed: list[str] = []
    epochs, starts = set(), set()
    with busy_brokers(version, tmp_path) as busy:
        for number in range(LOOKS):
            ends = busy.ends()
            with _unchanged(busy, tmp_path) if number % FROZEN == 0 else nullcontext():
                done = netdiag("storage", "--json", *NODES, cwd=tmp_path)
            assert b"Traceback" not in done.stderr, done.stderr.decode()
            document = json.loads(done.stdout)
            jsonschema.validate(document, SCHEMA)
            assert [one["problems"] for one in document["directories"]] == [[], []], number
            assert (done.returncode, done.stderr) == (0, b"")
            changed += [path for one in document["directories"] for path in one["changed"]]
            first, _ = document["directories"]
            assert [broker["node_id"] for broker in first["brokers"]] == [1, 2]
            # It is a replica in sync of each partition.
            _reaches(first, ends)
            (rolled,) = (one for one in first["partitions"] if one["folder"] == "rolled-0")
            epochs |= {each["epoch"] for each in rolled["leader_epochs"]}
            starts.add(rolled["segments"][0]["base_offset"])
            if number % FROZEN == 1:
                done = netdiag("storage", "--table", "problems", *NODES, cwd=tmp_path)
                assert (done.returncode, done.stdout) == (0, b"")
    figure(f"looks at two brokers {version} that write", LOOKS)
    figure(f"leader epochs of a partition of {version} meanwhile", len(epochs))
    figure(f"files of {version} that were told as changed while they were read", len(changed))
    assert len(epochs) > 1
    assert len(starts) > LOOKS // 4


def _reaches(directory: Mapping[str, Any], ends: Mapping[str, int]) -> None:
    changed = {path.partition("/")[0] for path in directory["changed"]}
    found = {one["folder"]: one["log"]["end_offset"] for one in directory["partitions"] if one["log"]}
    behind = {name: (found[name], end) for name, end in ends.items() if name not in changed and found[name] < end}
    assert behind == {}


@contextmanager
def _unchanged(busy: Busy, folder: Path) -> Iterator[None]:
    """The brokers stand still for the block, and nothing else changes a file."""
    with busy.frozen():
        before = _files(folder)
        yield
        assert _files(folder) == before


def _files(folder: Path) -> Mapping[str, tuple[int, int, int, str]]:
    found = {}
    for path in folder.rglob("*"):
        status = path.stat()
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[str(path)] = (status.st_ino, status.st_size, status.st_mtime_ns, digest)
    return found
