"""A standalone cluster of Spark on 127.0.0.1: a real master, worker processes, and their end by process group."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pyspark

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
