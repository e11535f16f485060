"""One extraction after the other on a cluster that runs slow tasks a second time, in 1, 2, 3 and 7 tasks.

    python repeated_job.py MASTER CAPTURE FOLDER

The first attempt of task 0 is slow, so another is started beside it. Prints, as JSON, by number of tasks: a digest of
all rows, and in how many attempts task 0 ran. What runs on executors is pickled by value: this is no module of theirs.
"""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.quantile": "0.1",
    "spark.speculation.minTaskRuntime": "100ms",
    "spark.speculation.task.duration.threshold": "2s",
}


def slow(reading: Any, folder: str, number: int) -> Any:
    """What a task does."""
    import os
    import time
    import uuid

    from pyspark import TaskContext

    from netdiag.io.spark.extraction import write_part

    context = TaskContext.get()
    if number == 0:
        with open(os.path.join(os.path.dirname(folder), f"{os.path.basename(folder)}-{uuid.uuid4().hex}"), "w"):
            pass
        if context is not None and context.attemptNumber() == 0:
            time.sleep(15)
    return write_part(reading, folder, number)


def digest(folder: Path) -> str:
    """Of the rows of all tables, whatever their order."""
    from netdiag.traffic.tables import NAMES

    found = hashlib.sha256()
    for name in NAMES:
        parts = sorted(folder.glob(f"{name}/*"))
        assert all(part.name.startswith("part-") for part in parts), parts
        found.update("\n".join(sorted(str(row) for part in parts for row in pq.read_table(part).to_pylist())).encode())
    assert {entry.name for entry in folder.iterdir()} == set(NAMES)
    return found.hexdigest()


def main(master: str, capture: str, into: str) -> None:
    """Print the document."""
    from netdiag.io.spark.extraction import extract
    from netdiag.io.spark.reading import Reading
    from netdiag.io.spark.session import spark_session
    from netdiag.traffic.native import ReadOptions

    said = {}
    with spark_session(master, settings=SPECULATION) as spark:
        for tasks in (1, 2, 3, 7):
            folder = Path(into, f"of-{tasks}")
            reading = Reading(paths=(capture,), options=ReadOptions())
            extract(spark, reading, str(folder), tasks=tasks, size=1, write=slow)
            said[tasks] = digest(folder), len(list(Path(into).glob(f"of-{tasks}-*")))
    print(json.dumps(said))


if __name__ == "__main__":
    main(*sys.argv[1:])
