"""`python -m tests.fuzz [--minutes N] [--seed N] [--keep FOLDER]`: projects until the time is over.

Exit 1 on a complaint. What told something new is disturbed again: a project that reached further is a better
start than an empty page.
"""

import argparse
import resource
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.bars.measuring import report
from tests.fuzz.oracle import judged
from tests.fuzz.projects import Chance, Project, disturbed, project

MEMORY = 2 * 1024**3
_POOL = 400


def main(arguments: Sequence[str]) -> int:
    """0 when no project gave a complaint."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0, help="where to start")
    parser.add_argument("--keep", type=Path, help="a folder for what gives a complaint")
    options = parser.parse_args(arguments)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    chance = Chance(options.seed)
    pool: list[Project] = []
    told: set[frozenset[str]] = set()
    rules: set[str] = set()
    complaints: Counter[str] = Counter()
    slowest, executions = 0.0, 0
    end = time.monotonic() + options.minutes * 60
    while time.monotonic() < end:
        if pool and chance.random() < 0.5:
            files = {
                path: disturbed(chance, data.decode("utf-8", "replace"), 0.5)
                for path, data in chance.choice(pool).items()
            }
        else:
            files = project(options.seed + executions)
        executions += 1
        with tempfile.TemporaryDirectory() as folder:
            verdict = judged(files, Path(folder), told)
            if verdict.complaints and not complaints[verdict.complaints[0][:60]] and options.keep:
                keep(files, options.keep / str(executions))
        for complaint in verdict.complaints:
            complaints[complaint[:60]] += 1
            print(f"{executions}: {complaint}", flush=True)
        slowest = max(slowest, verdict.seconds)
        rules |= verdict.told
        if verdict.told not in told:
            told.add(verdict.told)
            pool = [*pool[-_POOL:], files]
    report("projects checked in nine formats, repaired and checked again", executions)
    report("rules among their findings", sum(not word.startswith("status") for word in rules))
    report("sets of rules that fired together", len(told))
    report("slowest check", round(slowest, 2), "s of CPU")
    report("complaints", sum(complaints.values()))
    return 1 if complaints else 0


def keep(files: Project, folder: Path) -> None:
    """The project as files, to try it by hand."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path, data in files.items():
        (folder / path).write_bytes(data)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
