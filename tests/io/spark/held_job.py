"""`netdiag analyze`, run as a program, whose first attempts of tasks wait until they may go on.

    python held_job.py NOTES FAIL ARGUMENTS...

Every attempt leaves a file in NOTES: its task, its number and a random name, with the folder it runs in and where
netdiag was imported from. The first attempts wait there for the file `go`. The task FAIL (-1 for none) raises at its
first attempt, after it has written everything. What runs on executors is pickled by value, because this is no module
of theirs.
"""

import sys
from typing import Any

NOTES, FAIL = sys.argv[1], int(sys.argv[2])


def held(reading: Any, folder: str, number: int, notes: str = NOTES, fails: int = FAIL) -> Any:
    """What a task does."""
    import os
    import time
    import uuid

    from pyspark import TaskContext

    import netdiag
    from netdiag.io.spark.extraction import write_part

    context = TaskContext.get()
    attempt = context.attemptNumber() if context else 0
    name = os.path.join(notes, f"{number}-{attempt}-{uuid.uuid4().hex}")
    with open(f"{name}.new", "w") as file:
        file.write(f"{os.getcwd()}\n{netdiag.__file__}")
    os.rename(f"{name}.new", name)
    end = time.monotonic() + 300
    while not attempt and not os.path.exists(os.path.join(notes, "go")) and time.monotonic() < end:
        time.sleep(0.05)
    account = write_part(reading, folder, number)
    if number == fails and not attempt:
        raise RuntimeError("this attempt is meant to fail")
    return account


if __name__ == "__main__":
    import netdiag.io.spark.extraction as extraction
    from netdiag.cli.main import run

    extraction.write_task = held
    sys.argv[1:] = sys.argv[3:]
    run()
