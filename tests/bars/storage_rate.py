"""Bar: reading a log against kafka-dump-log --deep-iteration, and against cat, in one run with a warm page cache.

The summary of `netdiag storage` looks at every record and prints no row, the tool prints one for each. Beside it each
codec is measured, on records of about 100 bytes of JSON.
"""

import random
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
from tests.native.log_files import CODECS, moved, packed

ROUNDS = 3
LEAST_RATIO = 20
MOST_TIMES_CAT = 3
_MIB = 1024 * 1024
# Of each compressed log, before it is compressed.
_UNPACKED = 100 * _MIB


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """CPU and wall time in seconds."""

    cpu: float
    wall: float


def main() -> int:
    """0 when both ratios are kept by the clock."""
    with TemporaryDirectory() as folder:
        small, large = Path(folder) / "small", Path(folder) / "large"
        plain = bytes(number % 251 for number in range(10_000))
        count = _log(small, [plain[:93]] * 160, size=200 * _MIB)
        _log(large, [plain] * 100, size=2048 * _MIB)
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
        _tell_codecs(Path(folder))
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


def _tell_codecs(folder: Path) -> None:
    """What reading takes where batches are compressed; the tool is asked once, for it takes long."""
    chance = random.Random(1)
    order = '{{"order":"{:010x}","customer":"{:010x}","state":"paid","amount":{:07d},"currency":"EUR"}}'
    values = [order.format(*(chance.randrange(10**7) for _ in range(3))).encode() for _ in range(160)]
    for codec, name in enumerate(CODECS):
        count = _log(folder / name, values, size=_UNPACKED, codec=codec)
        costs = [_cost(_netdiag(folder / name)) for _ in range(ROUNDS)]
        tool = _cost(dump_command(KAFKA_4, "--deep-iteration", "--files", _file(folder / name)))
        best = Cost(cpu=min(each.cpu for each in costs), wall=min(each.wall for each in costs))
        share = _file(folder / name).stat().st_size / _UNPACKED
        report(
            f"{name}, {share:.0%} of its size: records in a second, CPU of kafka-dump-log / of netdiag storage",
            f"{count / best.wall:,.0f}, {tool.cpu / best.cpu:.1f}",
        )


def _log(folder: Path, values: Sequence[bytes], *, size: int, codec: int = 0) -> int:
    """A log of batches of these values, of about so many bytes before they are compressed; how many records it has."""
    filled: list[Written] = [(None, value, []) for value in values]
    plain = batch(filled)
    one = packed(plain, codec)
    path = _file(folder)
    path.parent.mkdir(parents=True)
    batches = size // len(plain)
    with path.open("wb") as file:
        for number in range(batches):
            file.write(moved(one, number * len(values)))
    return batches * len(values)


def _cost(command: Sequence[str]) -> Cost:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(cpu=after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall=wall)


if __name__ == "__main__":
    sys.exit(main())
