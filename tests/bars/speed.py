"""Bar: what a lint and its help cost, against the bare interpreter and `docker compose config -q`, in one run."""

import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bars.measuring import report
from tests.house.tree import ROOT
from tests.lab.cache import cache_root
from tests.lab.compose_v2 import compose_binary
from tests.mutations.bases import CONFLUENT_7, zookeeper

SIZE = 8_000
ROUNDS = 15
CPU_LIMIT = 0.25
CORPUS = ROOT.parent / "shared" / "corpus" / "compose"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """CPU and wall time of one run, in seconds."""

    cpu: float
    wall: float


def main() -> int:
    """0 when the cost of a lint, and of its help, above the bare interpreter is within the limit."""
    netdiag = (sys.executable, "-m", "netdiag")
    with TemporaryDirectory() as folder:
        file = Path(folder) / "compose.yml"
        file.write_text(stack(), encoding="utf-8")
        commands = {
            "bare": (sys.executable, "-c", "pass"),
            "help": (*netdiag, "--help"),
            "lint help": (*netdiag, "check-listeners", "--help"),
            "lint": (*netdiag, "check-listeners", str(file)),
            "compose": (str(compose_binary(cache_root())), "-f", str(file), "config", "-q"),
        }
        costs: dict[str, list[Cost]] = {name: [] for name in commands}
        # The first round fills caches of files and of bytecode.
        for round_number in range(ROUNDS + 1):
            for name, command in commands.items():
                cost = _cost(command)
                if round_number:
                    costs[name].append(cost)
        report("size of the file", file.stat().st_size, "bytes")
    cpu = {name: min(cost.cpu for cost in found) for name, found in costs.items()}
    wall = {name: statistics.median(cost.wall for cost in found) for name, found in costs.items()}
    report("CPU of the bare interpreter", round(cpu["bare"], 3), "s")
    report("CPU of netdiag --help", round(cpu["help"], 3), "s")
    above = {name: cpu[name] - cpu["bare"] for name in ("lint", "lint help")}
    report("CPU of check-listeners above the bare interpreter", round(above["lint"], 3), "s")
    report("CPU of check-listeners --help above the bare interpreter", round(above["lint help"], 3), "s")
    report("wall of check-listeners / docker compose config -q", round(wall["lint"] / wall["compose"], 2))
    _corpus(netdiag)
    return 0 if max(above.values()) <= CPU_LIMIT else 1


def _corpus(netdiag: Sequence[str]) -> None:
    files = [str(path) for path in sorted(CORPUS.glob("*/**/*.y*ml"))]
    if files:
        cost = _cost((*netdiag, "check-listeners", *files))
        report(f"CPU of {len(files)} corpus files in one process", round(cost.cpu, 2), "s")


def stack() -> str:
    """A correct cluster of at least `SIZE` bytes."""
    count = 1
    while len(text := zookeeper(CONFLUENT_7, count).render()[0]) < SIZE:
        count += 1
    return text


def _cost(command: Sequence[str]) -> Cost:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, check=False, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(cpu=after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall=wall)


if __name__ == "__main__":
    sys.exit(main())
