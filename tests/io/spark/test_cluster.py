"""A job on a real standalone cluster, a worker of which is killed in mid-job; what executors lack is told.

The cluster is a real master and worker processes on 127.0.0.1, ended by process group.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pyspark
import pytest
from typer.testing import CliRunner

from netdiag.cli.main import app
from netdiag.io.spark.cluster import missing_on_executor
from netdiag.traffic.tables import NAMES
from tests.cli.shell import ROOT
from tests.figures import Report as Figure
from tests.native.conversations import capture

LOOPBACK = "127.0.0.1"
_PATIENCE = 120.0
_QUICK = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m")


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """A worker process; what its executors write lies in `folder`."""

    process: "subprocess.Popen[bytes]"
    folder: Path

    def kill(self) -> None:
        """SIGKILL for the worker and for its executors, which are of its group."""
        _end(self.process, signal.SIGKILL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A master that can be named with --master, and its workers."""

    url: str
    workers: tuple[Worker, ...]


@contextmanager
def standalone(
    folder: Path, java: str, *, hosts: Sequence[str] = (LOOPBACK, LOOPBACK), memory: str = "1g"
) -> Iterator[Cluster]:
    """A cluster with a worker of one core on every host (addresses of the loopback); nothing is left of it at the end.

    Spark runs no second attempt of a task on the host of the first.
    """
    started: list[subprocess.Popen[bytes]] = []
    try:
        log = folder / "master.log"
        started.append(
            _java(
                java,
                log,
                "org.apache.spark.deploy.master.Master",
                "--host",
                LOOPBACK,
                "--port",
                "0",
                "--webui-port",
                "0",
            )
        )
        url = _said(log, started[0], r"Starting Spark master at (spark://\S+)")
        _said(log, started[0], r"I have been elected leader")
        found = []
        for number, host in enumerate(hosts):
            work, log = folder / f"work-{number}", folder / f"worker-{number}.log"
            words = ("--host", host, "--port", "0", "--webui-port", "0", "--cores", "1", "--memory", memory)
            worker = "org.apache.spark.deploy.worker.Worker"
            process = _java(java, log, worker, *words, "--work-dir", str(work), url, host=host)
            started.append(process)
            found.append(Worker(process=process, folder=work))
        for number, process in enumerate(started[1:]):
            _said(folder / f"worker-{number}.log", process, r"Successfully registered with master")
        yield Cluster(url=url, workers=tuple(found))
    finally:
        for process in reversed(started):
            _end(process, signal.SIGKILL)


def _java(java: str, log: Path, *words: str, host: str = LOOPBACK) -> "subprocess.Popen[bytes]":
    home = Path(pyspark.__file__).parent
    # Nothing of ours: what executors need is brought by the driver.
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "SPARK", "PYSPARK"))}
    scala = next((home / "jars").glob("scala-library-*.jar")).stem.removeprefix("scala-library-").rpartition(".")[0]
    environment = {
        **kept,
        "SPARK_HOME": str(home),
        "SPARK_SCALA_VERSION": scala,
        "SPARK_LOCAL_IP": host,
        "JAVA_HOME": java,
    }
    command: Sequence[str] = [f"{java}/bin/java", *_QUICK, "-Dspark.master.rest.enabled=false", "-cp", f"{home}/jars/*"]
    with log.open("wb") as output:
        return subprocess.Popen(
            [*command, *words],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment,
            cwd=log.parent,
            start_new_session=True,
        )


def _said(log: Path, process: "subprocess.Popen[bytes]", pattern: str) -> str:
    """What a process says of itself, waited for."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        text = log.read_text(encoding="utf-8", errors="replace")
        if match := re.search(pattern, text):
            return match[1] if match.groups() else match[0]
        assert process.poll() is None, text[-2000:]
        time.sleep(0.05)
    raise AssertionError(f"{pattern} in {log.read_text(errors='replace')[-2000:]}")


def _end(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)
    process.wait()


if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PATIENCE = 400.0
TASKS = 3
JOB = Path(__file__).with_name("held_job.py")


def test_an_executor_that_sees_all_lacks_nothing(tmp_path: Path) -> None:
    mark, file = tmp_path / "mark", tmp_path / "a.pcap"
    mark.touch()
    file.write_bytes(b"12345")
    assert list(missing_on_executor(str(mark), {str(file): 5})) == []
    # A file that is being written grows.
    assert list(missing_on_executor(str(mark), {str(file): 4})) == []


def test_what_an_executor_lacks_has_its_place(tmp_path: Path) -> None:
    file, absent = tmp_path / "a.pcap", tmp_path / "absent.pcap"
    file.write_bytes(b"12345")
    said = list(missing_on_executor(str(tmp_path / "elsewhere" / "mark"), {str(file): 6, str(absent): 1}))
    assert [where for where, *_ in said] == [str(tmp_path / "elsewhere"), str(file), str(absent)]
    assert "is another file" in said[1][1]
    assert "No such file" in said[2][1]


@pytest.mark.bar("spark-cluster", long=True)
def test_a_killed_worker_and_a_failed_task_change_nothing(
    java: str, spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, notes, out = capture(tmp_path / "a.pcap"), tmp_path / "notes", tmp_path / "out"
    notes.mkdir()
    environment = surroundings(java)
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


@pytest.mark.bar("spark-cluster", long=True)
def test_partitions_and_speculation_change_nothing(java: str, tmp_path: Path, figure: Figure) -> None:
    path = capture(tmp_path / "a.pcap")
    into = tmp_path / "tables"
    into.mkdir()
    with standalone(tmp_path, java, hosts=("127.0.0.1", "127.0.0.2")) as cluster:
        program = [sys.executable, str(JOB.with_name("repeated_job.py")), cluster.url, path, str(into)]
        done = subprocess.run(program, env=surroundings(java), capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, "")
    said = json.loads(done.stdout)
    assert set(said) == {"1", "2", "3", "7"}
    assert len({digest for digest, _ in said.values()}) == 1
    figure("attempts of the slow task in 1, 2, 3 and 7 tasks", str([attempts for _, attempts in said.values()]))
    assert any(attempts > 1 for _, attempts in said.values())


@pytest.mark.bar("spark-cluster", long=True)
def test_what_a_cluster_lacks_is_one_line_and_hadoop_is_read(java: str, tmp_path: Path) -> None:
    path = capture(tmp_path / "a.pcap")
    settings = tmp_path / "settings"
    settings.mkdir()
    link = "spark.hadoop.fs.viewfs.mounttable.netdiag.link./captures"
    (settings / "spark-defaults.conf").write_text(f"{link} {tmp_path.as_uri()}\n")
    other = tmp_path / "python-of-another-version"
    other.write_text(
        f"#!/bin/sh\nshift\nexec {sys.executable} -c 'import collections, runpy, sys; "
        'version = collections.namedtuple("version", "major minor micro releaselevel serial"); '
        'sys.version_info = version(3, 99, 0, "final", 0); '
        'sys.argv = sys.argv[1:]; runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)\' "$@"\n'
    )
    other.chmod(0o755)
    with standalone(tmp_path, java) as cluster:
        asked = [sys.executable, "-m", "netdiag", "analyze", "--master", cluster.url, "--format", "json"]

        def run(capture: str, **more: str) -> subprocess.CompletedProcess[str]:
            environment = {**surroundings(java), **more}
            return subprocess.run([*asked, capture], env=environment, capture_output=True, text=True, timeout=PATIENCE)

        here = run(path)
        elsewhere = run("viewfs://netdiag/captures/a.pcap", SPARK_CONF_DIR=str(settings))
        absent = run(path, PYSPARK_PYTHON=str(tmp_path / "no-python"))
        strange = run(path, PYSPARK_PYTHON=str(other))
    assert (here.returncode, elsewhere.returncode) == (0, 0), (here.stderr, elsewhere.stderr)
    found, expected = json.loads(elsewhere.stdout), json.loads(here.stdout)
    assert found["files"] == ["viewfs://netdiag/captures/a.pcap"]
    assert {**found, "files": None} == {**expected, "files": None}
    assert absent.stderr.startswith(f"netdiag: the executors have no '{tmp_path}/no-python'\n"), absent.stderr
    assert strange.stderr.startswith("netdiag: the executors have Python 3.99, netdiag runs on 3."), strange.stderr
    assert (absent.returncode, strange.returncode) == (3, 3)


def surroundings(java: str) -> dict[str, str]:
    """The environment of a driver."""
    return {**os.environ, "JAVA_HOME": java, "PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": sys.executable}
