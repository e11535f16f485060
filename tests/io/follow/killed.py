"""Follow a folder in a process of its own, to be killed: `python -m tests.io.follow.killed FOLDER CHECKPOINT OUT`.

Without Spark it does what the streaming query does: plan, carry out, end the batch. With `--spark` the query does it.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from netdiag.io.follow.admission import Admission
from netdiag.io.follow.batch import plan_of, step
from netdiag.io.follow.store import Store, settings_of, work_of
from netdiag.traffic.native import ReadOptions

CLASSES = 2
LATENESS = 0.1


def main(folder: str, checkpoint: str, out: str, *more: str) -> None:
    """Until all that is there is taken."""
    store = Store(checkpoint=Path(checkpoint), out=Path(out))
    options = ReadOptions()
    with store.locked():
        store.begin(settings_of(folder, options, CLASSES, LATENESS, since_ns=None, until_ns=None))
        if "--spark" in more:
            _by_spark(store)
        else:
            print("ready", flush=True)
            _plainly(store)
    print("done", flush=True)


def _by_spark(store: Store) -> None:
    from netdiag.io.spark.follow import Following, follow
    from netdiag.io.spark.session import spark_session

    with spark_session("local[2]") as spark:
        print("ready", flush=True)
        follow(spark, Following(store=store, every=0.1, once=True), lambda done: None)


def _plainly(store: Store) -> None:
    work, lateness = work_of(store)
    admission = Admission(work.folder, lateness=lateness, most=6000)
    log = store.checkpoint / "offsets"
    log.mkdir(exist_ok=True)
    batch, _ = store.committed()
    while True:
        # As Spark does it: what a batch is to do stands in a log before it is begun.
        logged = log / str(batch + 1)
        if not logged.exists():
            plan = admission.plan(store.catalogue(batch))
            if plan is None:
                return
            logged.with_suffix(".new").write_text(plan.text())
            os.replace(logged.with_suffix(".new"), logged)
        plan = plan_of(logged.read_text())
        store.keep_catalogue(store.catalogue(batch).after(plan))
        accounts = [json.loads(json.dumps(step(work, plan, number))) for number in range(work.classes)]
        store.commit(plan.batch, work.classes, accounts)
        batch = plan.batch


def killed_again_and_again(
    base: Path, files: Sequence[bytes], chance: random.Random, *more: str, longest: float
) -> int:
    """A file comes, it is started and killed at a random moment, and so on; at the end all is taken. How often."""
    caps = base / "caps"
    caps.mkdir()
    command = [sys.executable, "-m", __name__, str(caps), str(base / "checkpoint"), str(base / "out"), *more]
    killed = 0
    for number, data in enumerate(files, 1):
        path = caps / f"cap-{number:05}.pcap"
        path.with_suffix(".part").write_bytes(data)
        path.with_suffix(".part").rename(path)
        is_last = number == len(files)
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                assert process.stdout.readline() == "ready\n"
                if not is_last:
                    time.sleep(chance.uniform(0, longest))
                    process.kill()
                told = process.stdout.read().splitlines()
                status = process.wait()
            finally:
                process.kill()
        assert status in (0, -signal.SIGKILL)
        assert not is_last or told[-1] == "done"
        killed += status != 0
    return killed


if __name__ == "__main__":
    main(*sys.argv[1:])
