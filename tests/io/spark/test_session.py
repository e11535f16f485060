"""A session works, keeps to this machine, says nothing on the terminal and leaves nothing behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from netdiag.io.spark.session import held_back, is_here, is_local, reason_of

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


def life(master: str, temporary: Path) -> subprocess.CompletedProcess[str]:
    """A session in a process of its own."""
    environment = {**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": os.pathsep.join(sys.path)}
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
        with held_back():
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
