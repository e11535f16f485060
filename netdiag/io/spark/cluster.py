"""Whether a cluster can do the work, found out before hours of it: executors, their Python, the paths they share."""

import os
import socket
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from uuid import uuid4

from pyspark.sql import SparkSession

from netdiag.errors import NetdiagError
from netdiag.io.spark.session import missing_engine, translated_errors

# So long a cluster may take to give us an executor; who waits for others in a queue raises it.
PATIENCE = 120.0
_LOOK_EVERY = 0.1
_SHARE = "give --out a folder that all executors and this machine share"


def await_executors(spark: SparkSession, master: str, patience: float = PATIENCE) -> int:
    """Wait until there is an executor; how many there are."""
    end = time.monotonic() + patience
    scheduler = spark.sparkContext._jsc.sc()
    # The driver is counted, too.
    while (found := int(scheduler.getExecutorMemoryStatus().size()) - 1) < 1:
        if time.monotonic() > end:
            raise NetdiagError(
                f"no executor appeared within {patience:.0f} s",
                where=master,
                hint="check that workers are alive, have free cores and memory, and reach this machine",
            )
        time.sleep(_LOOK_EVERY)
    return found


def check_executors(spark: SparkSession, executors: int, folder: str, captures: Iterable[str]) -> None:
    """NetdiagError where executors cannot do the work: no Python or library, other files behind the same paths."""
    mark = Path(folder, f".driver-{uuid4().hex}")
    mark.touch()
    known = {path: os.stat(path).st_size for path in captures}
    tasks = max(2 * executors, int(spark.sparkContext.defaultParallelism))
    try:
        with translated_errors():
            numbers = spark.sparkContext.parallelize(range(tasks), tasks)
            said = numbers.mapPartitions(lambda _: missing_on_executor(str(mark), known)).collect()
    finally:
        mark.unlink()
    for where, message, hint in sorted(set(said)):
        raise NetdiagError(message, where=where, hint=hint)


def missing_on_executor(mark: str, captures: dict[str, int]) -> Iterator[tuple[str, str, str]]:
    """What an executor lacks: where, what, and what to do."""
    folder = os.path.dirname(mark)
    for message, hint in missing_engine():
        yield socket.gethostname(), f"the executors there lack it: {message}", hint
    if not os.path.exists(mark):
        yield folder, "what is written here is not visible on the executors", _SHARE
    elif not os.access(folder, os.W_OK | os.X_OK):
        user = f"user {os.geteuid()}" if hasattr(os, "geteuid") else "their user"
        yield folder, f"the executors cannot write here as {user}", "run netdiag as the user that Spark's workers are"
    for path, size in captures.items():
        try:
            if os.stat(path).st_size < size:
                yield path, "is another file on the executors", "give a path that all executors share"
            with open(path, "rb"):
                pass
        except OSError as error:
            reason = error.strerror or "unreadable"
            yield path, f"the executors cannot read it: {reason}", "give a path that all executors share, or hdfs://…"
