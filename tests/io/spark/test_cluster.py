"""A job on a real standalone cluster, a worker of which is killed in mid-job; what executors lack is told."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from netdiag.cli.main import app
from netdiag.io.spark.cluster import misses
from netdiag.traffic.tables import NAMES
from tests.cli.shell import ROOT
from tests.io.spark.captures import capture
from tests.io.spark.standalone import standalone

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PATIENCE = 400.0
TASKS = 3
JOB = Path(__file__).with_name("held_job.py")


def test_an_executor_that_sees_all_lacks_nothing(tmp_path: Path) -> None:
    mark, file = tmp_path / "mark", tmp_path / "a.pcap"
    mark.touch()
    file.write_bytes(b"12345")
    assert list(misses(str(mark), {str(file): 5})) == []
    # A file that is being written grows.
    assert list(misses(str(mark), {str(file): 4})) == []


def test_what_an_executor_lacks_has_its_place(tmp_path: Path) -> None:
    file, absent = tmp_path / "a.pcap", tmp_path / "absent.pcap"
    file.write_bytes(b"12345")
    said = list(misses(str(tmp_path / "elsewhere" / "mark"), {str(file): 6, str(absent): 1}))
    assert [where for where, *_ in said] == [str(tmp_path / "elsewhere"), str(file), str(absent)]
    assert "is another file" in said[1][1]
    assert "No such file" in said[2][1]


@pytest.mark.slow
@pytest.mark.bar("spark-cluster")
def test_a_killed_worker_and_a_failed_task_change_nothing(
    java: str, spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, notes, out = capture(tmp_path / "a.pcap"), tmp_path / "notes", tmp_path / "out"
    notes.mkdir()
    environment = {**os.environ, "JAVA_HOME": java, "PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": sys.executable}
    asked = ["analyze", path, "--format", "json", "--partitions", str(TASKS), "--out"]
    with standalone(tmp_path, java) as cluster:
        killed = cluster.workers[1]
        command = [sys.executable, str(JOB), str(notes), "0", *asked, str(out), "--master", cluster.url]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as job:
            try:
                # Each worker has one core: the second attempt runs beside the first, on the other one.
                until(lambda: len(attempts(notes)) >= 2 or job.poll() is not None)
                killed.kill()
                assert job.poll() is None, job.communicate()
                (notes / "go").touch()
                said, errors = job.communicate(timeout=PATIENCE)
            finally:
                job.kill()
    assert (job.returncode, errors) == (0, b""), (said, errors)

    found = attempts(notes)
    assert all("netdiag.zip" in each.source for each in found)
    lost = {each.task for each in found if each.folder.startswith(str(killed.folder))}
    assert lost
    assert lost | {0} <= {each.task for each in found if each.number > 0}

    monkeypatch.setattr("netdiag.io.spark.session.spark_session", lambda *_, **__: nullcontext(spark))
    alone = CliRunner().invoke(app, [*asked, str(tmp_path / "alone")])
    assert json.loads(said) == json.loads(alone.stdout)
    for name in NAMES:
        assert rows(out, name) == rows(tmp_path / "alone", name), name
    assert sorted(entry.name for entry in out.iterdir()) == sorted((*NAMES, "answers"))
    assert len(rows(out, "exchanges")) == 36


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt of a task: the folder that it ran in, and where netdiag was imported from."""

    task: int
    number: int
    folder: str
    source: str


def attempts(notes: Path) -> list[Attempt]:
    """Those that have begun."""
    found = []
    for path in notes.glob("*-*-*"):
        if path.suffix != ".new":
            task, number, _ = path.name.split("-")
            folder, source = path.read_text(encoding="utf-8").split("\n")
            found.append(Attempt(task=int(task), number=int(number), folder=folder, source=source))
    return found


def until(holds: Callable[[], bool]) -> None:
    """Wait for something."""
    end = time.monotonic() + PATIENCE
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)


def rows(out: Path, name: str) -> list[str]:
    """The rows of a table, in an order of their own."""
    return sorted(str(row) for part in (out / name).glob("*.parquet") for row in pq.read_table(part).to_pylist())
