"""A session works, keeps to this machine, says nothing on the terminal and leaves nothing behind."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from netdiag.errors import InputError, NetdiagError
from netdiag.io.spark.cluster import missing_on_executor
from netdiag.io.spark.session import (
    ENGINE,
    engine_archive,
    engine_here,
    failure,
    is_here,
    is_local,
    package_archive,
    reason_of,
    signals_deferred,
    translated_errors,
)
from netdiag.traffic import native

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


ONE_LIFE = """
import os, sys
from netdiag.errors import NetdiagError
from netdiag.io.spark.session import spark_session
try:
    with spark_session(sys.argv[1]) as spark:
        spark.sparkContext._jvm.java.lang.System.err.println("noise")
        print(spark.sparkContext.parallelize([1, 2], 2).map(lambda x: x + 1).sum())
except NetdiagError as error:
    print("error:", error)
"""


@pytest.fixture(scope="module")
def temporary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the sessions of this module put what is temporary."""
    return tmp_path_factory.mktemp("temporary")


def life(master: str, temporary: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """A session in a process of its own."""
    environment = {**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": os.pathsep.join(sys.path)} | more
    return subprocess.run(
        [sys.executable, "-c", ONE_LIFE, master], capture_output=True, text=True, env=environment, cwd=temporary
    )


@pytest.mark.slow
@pytest.mark.usefixtures("java")
def test_a_session_says_nothing_and_leaves_nothing(temporary: Path) -> None:
    done = life("local[1]", temporary)
    assert (done.stdout, done.stderr, done.returncode) == ("5\n", "", 0)
    assert list(temporary.iterdir()) == []


@pytest.mark.slow
@pytest.mark.usefixtures("java")
def test_a_file_of_events_is_ended(temporary: Path, tmp_path: Path) -> None:
    """For whoever asks for one in a configuration of Spark's."""
    (tmp_path / "events").mkdir()
    asked = {"enabled": "true", "dir": (tmp_path / "events").as_uri(), "rolling.enabled": "false"}
    lines = "".join(f"spark.eventLog.{name} {value}\n" for name, value in asked.items())
    (tmp_path / "spark-defaults.conf").write_text(lines)
    assert life("local[1]", temporary, SPARK_CONF_DIR=str(tmp_path)).stdout == "5\n"
    (events,) = (tmp_path / "events").glob("[!.]*")
    assert events.suffix != ".inprogress"


@pytest.mark.slow
@pytest.mark.usefixtures("java")
def test_a_master_that_cannot_be_is_one_line(temporary: Path) -> None:
    done = life("nonsense", temporary)
    assert (done.stderr, done.returncode) == ("", 0)
    assert done.stdout.count("\n") == 1
    assert done.stdout.startswith("error: Spark does not start: ")
    assert list(temporary.iterdir()) == []


def test_a_session_listens_on_this_machine_only(spark: "SparkSession") -> None:
    """Every listening socket of the Java process is on the loopback."""
    process = spark.sparkContext._gateway.proc.pid  # type: ignore[union-attr]
    listening = listeners(process)
    assert listening
    assert {address for address in listening if not address.startswith(LOOPBACK)} == set()


LOOPBACK = ("0100007F:", "0000000000000000FFFF00000100007F:", "00000000000000000000000001000000:")


def listeners(process: int) -> set[str]:
    """The local addresses of the listening TCP sockets of a process, as /proc spells them."""
    inodes = set()
    for entry in Path(f"/proc/{process}/fd").iterdir():
        try:
            inodes.add(os.readlink(entry))
        except OSError:
            continue
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{process}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in inodes:
                found.add(fields[1])
    return found


def test_interrupts_are_left_as_they_were(spark: "SparkSession") -> None:
    assert spark.version
    # Whoever starts tests in the background hands down that interrupts are ignored.
    assert signal.getsignal(signal.SIGINT) in (signal.default_int_handler, signal.SIG_IGN, signal.SIG_DFL)


def test_the_environment_is_left_as_it_was(spark: "SparkSession") -> None:
    assert spark.version
    assert "SPARK_LOCAL_IP" not in os.environ


@pytest.mark.parametrize(
    ("master", "local"), [("local", True), ("local[2]", True), ("local[*,4]", True), ("spark://h:7077", False)]
)
def test_what_is_local(master: str, local: bool) -> None:
    assert is_local(master) == local


def test_the_reason_is_the_first_line() -> None:
    assert reason_of(ValueError("\nmaster is wrong\n\tat java")) == "master is wrong"
    assert reason_of(ValueError()) == "ValueError"


def test_what_spark_says_is_its_message(spark: "SparkSession") -> None:
    with pytest.raises(Exception, match="nowhere") as caught:
        spark.table("nowhere")
    assert "\n" not in reason_of(caught.value)
    assert "nowhere" in reason_of(caught.value)


def test_signals_wait_for_the_end_of_what_they_would_spoil() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: heard.append(number))
    try:
        with signals_deferred():
            signal.raise_signal(signal.SIGTERM)
            assert heard == []
        assert heard == [signal.SIGTERM]
        signal.raise_signal(signal.SIGTERM)
        assert heard == [signal.SIGTERM] * 2
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize(
    ("master", "here"),
    [
        ("spark://127.0.0.1:7077", True),
        ("spark://localhost:7077", True),
        ("spark://10.0.0.1:7077", False),
        ("spark://127.0.0.1:7077,10.0.0.1:7077", False),
        ("k8s://https://127.0.0.1", False),
    ],
)
def test_what_only_this_machine_reaches(master: str, here: bool) -> None:
    assert is_here(master) == here


def test_the_package_works_from_its_archive(tmp_path: Path) -> None:
    archive = package_archive(tmp_path)
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import netdiag; from netdiag.traffic.tables import table; from netdiag.kafka.protocol import encode_request\n"
        "print(netdiag.__file__, len(table('exchanges').columns), len(encode_request(3, 12, 1, 'a', {'topics': None})))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(archive)], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.startswith(f"{archive}/netdiag/__init__.py ")


def test_examples_stay_behind_and_bytes_are_the_same(tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    archive = package_archive(tmp_path)
    with zipfile.ZipFile(archive) as read:
        inside = read.namelist()
    assert all(name.startswith("netdiag/") for name in inside)
    assert not [name for name in inside if name.startswith("netdiag/data/") or name.endswith(".pyc")]
    assert archive.stat().st_size < 4_000_000
    assert archive.read_bytes() == package_archive(tmp_path / "again").read_bytes()


def test_the_engine_works_where_its_archive_was_unpacked(tmp_path: Path) -> None:
    unpacked = tmp_path / "unpacked"
    with zipfile.ZipFile(engine_archive(tmp_path)) as archive:
        archive.extractall(unpacked)
    program = "import sys; sys.path.insert(0, sys.argv[1]); import netdiag_native; print(netdiag_native.__file__)"
    done = subprocess.run(
        [sys.executable, "-I", "-c", program, str(unpacked)], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.startswith(str(unpacked))


def test_an_executor_takes_the_engine_that_was_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netdiag.io.spark.session.SparkFiles.get", lambda name: str(tmp_path / name))
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = list(sys.path)
    engine_here()
    assert sys.path == before
    monkeypatch.setattr("netdiag.io.spark.session.find_spec", lambda name: None)
    engine_here()
    assert sys.path == [*before, str(tmp_path / ENGINE)]


def test_an_executor_without_the_engine_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = tmp_path / "mark"
    mark.touch()
    assert list(missing_on_executor(str(mark), {})) == []

    def missing() -> str:
        raise native.MissingEngine

    monkeypatch.setattr(native, "version", missing)
    ((where, message, hint),) = missing_on_executor(str(mark), {})
    assert where == socket.gethostname()
    assert "capture engine" in message
    assert "Python 3." in message
    assert hint.startswith("on every worker, ")


ABORTED = "An error occurred while calling z:org.apache.spark.api.python.PythonRDD.collectAndServe.\n: Job aborted: "


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        (
            "pyspark.errors.exceptions.base.PySparkRuntimeError: [PYTHON_VERSION_MISMATCH] Python in worker has "
            "different version: 3.10 than that in driver: 3.11, PySpark cannot run with different minor versions.",
            "the executors have Python 3.10, netdiag runs on 3.11 here",
            "set PYSPARK_PYTHON",
        ),
        (
            "  File \"arrow.py\", line 9\nModuleNotFoundError: No module named 'pyarrow.lib'\n\n\tat org.apache",
            "the Python of the executors has no 'pyarrow'",
            "install pyarrow there",
        ),
        (
            'java.io.IOException: Cannot run program "python3.12": error=2, No such file or directory',
            "the executors have no 'python3.12'",
            "PYSPARK_PYTHON",
        ),
        (
            "most recent failure: Lost task 0.3 (TID 3) (10.0.0.9 executor 1): ExecutorLostFailure (executor 1 "
            "exited) Reason: killed\nDriver stacktrace:\n\tat",
            "an executor was lost again and again: executor 1 exited) Reason: killed",
            "more memory",
        ),
        (
            "Lost task 1.0 (TID 3): org.apache.spark.SparkException: \nError from python worker:\n  Traceback:\n"
            "  ImportError: libffi.so.8: cannot open\nPYTHONPATH was:\n  /a.zip\n\tat org.apache",
            "the Python of the executors does not start: ImportError: libffi.so.8: cannot open",
            "PYSPARK_PYTHON",
        ),
        ("Traceback\nnetdiag.errors.InputError: a.pcap: is a folder\n\n\tat org.apache", "a.pcap: is a folder", ""),
    ],
)
def test_reasons(text: str, said: str, hint: str) -> None:
    found = failure(Py4JError(ABORTED + text))
    assert found.message == said
    assert hint in (found.hint or "")


def test_what_is_not_known_is_its_first_line() -> None:
    error = PySparkRuntimeError(errorClass="CANNOT_OPEN_SOCKET", messageParameters={"errors": "x"})
    assert failure(error).message.startswith("a job of Spark failed: ")


def test_an_error_of_ours_in_a_task_is_told_as_it_was(spark: SparkSession) -> None:
    def task(number: int) -> int:
        raise InputError("cannot be read", where="a.pcap", hint=str(number))

    context: SparkContext = spark.sparkContext
    with pytest.raises(NetdiagError, match=r"^a\.pcap: cannot be read$"), translated_errors():
        context.parallelize([1], 1).map(task).collect()


@pytest.mark.parametrize("end", [lambda number: os._exit(3), lambda number: os.kill(os.getpid(), signal.SIGKILL)])
def test_a_worker_that_ends_in_its_work(spark: SparkSession, end: Callable[[int], None]) -> None:
    context: SparkContext = spark.sparkContext
    with (
        pytest.raises(NetdiagError, match=r"^a Python worker of Spark was killed, or crashed$") as raised,
        translated_errors(),
    ):
        context.parallelize([1], 1).map(end).collect()
    assert "--partitions" in (raised.value.hint or "")


def test_a_python_that_ends_before_its_work(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    context: SparkContext = spark.sparkContext
    monkeypatch.setattr(context, "pythonExec", shutil.which("false"))
    with pytest.raises(NetdiagError, match=r"^the Python of the executors does not start$"), translated_errors():
        context.parallelize([1], 1).map(lambda number: number).collect()


def test_other_errors_pass() -> None:
    with pytest.raises(KeyError), translated_errors():
        raise KeyError("x")
