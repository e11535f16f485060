"""The stacks of Java and Python become one line with what to do."""

import os
import shutil
import signal
from collections.abc import Callable

import pytest
from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from netdiag.errors import InputError, NetdiagError
from netdiag.io.spark.failures import failure, told

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
    with pytest.raises(NetdiagError, match=r"^a\.pcap: cannot be read$"), told():
        context.parallelize([1], 1).map(task).collect()


@pytest.mark.parametrize("end", [lambda number: os._exit(3), lambda number: os.kill(os.getpid(), signal.SIGKILL)])
def test_a_worker_that_ends_in_its_work(spark: SparkSession, end: Callable[[int], None]) -> None:
    context: SparkContext = spark.sparkContext
    with pytest.raises(NetdiagError, match=r"^a Python worker of Spark was killed, or crashed$") as raised, told():
        context.parallelize([1], 1).map(end).collect()
    assert "--partitions" in (raised.value.hint or "")


def test_a_python_that_ends_before_its_work(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    context: SparkContext = spark.sparkContext
    monkeypatch.setattr(context, "pythonExec", shutil.which("false"))
    with pytest.raises(NetdiagError, match=r"^the Python of the executors does not start$"), told():
        context.parallelize([1], 1).map(lambda number: number).collect()


def test_other_errors_pass() -> None:
    with pytest.raises(KeyError), told():
        raise KeyError("x")
