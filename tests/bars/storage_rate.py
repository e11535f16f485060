"""Bar: reading a log against kafka-dump-log --deep-iteration, and against cat, in one run with a warm page cache.

The summary of `netdiag storage` looks at every record and prints no row, the tool prints one for each.
"""

import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bars.data_directories import dump_command
from tests.bars.measuring import report
from tests.lab.jars import KAFKA_4
from tests.native.conversations import Written, batch
from tests.native.log_files import moved

ROUNDS = 3
LEAST_RATIO = 20
MOST_TIMES_CAT = 3
_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """CPU and wall time in seconds."""

    cpu: float
    wall: float


def main() -> int:
    """0 when both ratios are kept by the clock."""
    with TemporaryDirectory() as folder:
        small, large = Path(folder) / "small", Path(folder) / "large"
        count = _log(small, value=93, records=160, size=200 * _MIB)
        _log(large, value=10_000, records=100, size=2048 * _MIB)
        report("records of about 100 bytes", count)
        tool = dump_command(KAFKA_4, "--deep-iteration", "--files", _file(small))
        cat = ("cat", str(_file(large)))
        costs: dict[str, list[Cost]] = {}
        for _ in range(ROUNDS):
            for name, command in {
                "tool": tool,
                "small": _netdiag(small),
                "cat": cat,
                "large": _netdiag(large),
            }.items():
                costs.setdefault(name, []).append(_cost(command))
    ratios = {}
    for kind, of in (("CPU", lambda cost: cost.cpu), ("wall", lambda cost: cost.wall)):
        ratios[kind] = _ratios(costs, of)
        faster, slower = ratios[kind]
        report(f"{kind} of kafka-dump-log / of netdiag storage, 100-byte records", round(faster, 1))
        report(f"{kind} of netdiag storage / of cat, 10-kB records", round(slower, 2))
    faster, slower = ratios["wall"]
    return 0 if faster >= LEAST_RATIO and slower <= MOST_TIMES_CAT else 1


def _ratios(costs: dict[str, list[Cost]], of: Callable[[Cost], float]) -> tuple[float, float]:
    best = {name: min(map(of, found)) for name, found in costs.items()}
    return best["tool"] / best["small"], best["large"] / best["cat"]


def _netdiag(folder: Path) -> Sequence[str]:
    return (sys.executable, "-m", "netdiag", "storage", str(folder))


def _file(folder: Path) -> Path:
    return folder / "t-0" / f"{0:020}.log"


def _log(folder: Path, *, value: int, records: int, size: int) -> int:
    """A log of about so many bytes, of batches of so many records; how many records it has."""
    filled: list[Written] = [(None, bytes(number % 251 for number in range(value)), [])] * records
    one = batch(filled)
    path = _file(folder)
    path.parent.mkdir(parents=True)
    batches = size // len(one)
    with path.open("wb") as file:
        for number in range(batches):
            file.write(moved(one, number * records))
    return batches * records


def _cost(command: Sequence[str]) -> Cost:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(cpu=after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall=wall)


if __name__ == "__main__":
    sys.exit(main())
