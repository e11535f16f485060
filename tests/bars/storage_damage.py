"""Bar: thousands of damaged data directories: netdiag never fails, takes bounded time and memory, invents no record.

`python -m tests.bars.storage_damage [COUNT] [SEED]`; a directory that fails is told with its seed. What each thousand
gave is kept by commit, so that a run that was stopped goes on where it was.
"""

import json
import os
import random
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from netdiag.app.progress import Silent
from netdiag.app.storage import StorageQuery, read_storage
from netdiag.errors import NetdiagError
from netdiag.render.storage import storage_json
from tests.bars.data_directories import VERSIONS, data_directory
from tests.bars.measuring import report
from tests.bars.record import RECORDS, present_commit
from tests.bars.storage_truth import rows

COUNT = 5000
# So many are measured and kept together.
_TOGETHER = 1000
MOST_SECONDS = 5.0
MOST_MIB = 600
# Larger logs cost time, and have nothing that small ones have not.
_LARGEST = 40_000
# What would end in a traceback; a panic of the engine is none of these, and ends this program.
_DEFECTS = (ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError)
_TABLES = ("log_segments", "log_batches", "log_problems", "stored_records", "committed_offsets")


@dataclass(kw_only=True)
class Found:
    """What some directories gave; `slowest` in seconds of CPU, `peak` in MiB."""

    failures: int = 0
    refused: int = 0
    changed: int = 0
    slowest: float = 0.0
    peak: int = 0

    def add(self, other: "Found") -> None:
        """What others gave, too."""
        self.failures += other.failures
        self.refused += other.refused
        self.changed += other.changed
        self.slowest = max(self.slowest, other.slowest)
        self.peak = max(self.peak, other.peak)


def main(arguments: Sequence[str]) -> int:
    """0 when every directory was read or refused in a line, in time, and told nothing that is not in it."""
    count = int(arguments[0]) if arguments else COUNT
    first = int(arguments[1]) if len(arguments) > 1 else 0
    kept = RECORDS / present_commit() / "storage-damage"
    kept.mkdir(parents=True, exist_ok=True)
    originals = [_small(data_directory(version)) for version in VERSIONS]
    total = Found()
    with TemporaryDirectory() as base:
        known = [_records(_written(Path(base) / str(number), files)) for number, files in enumerate(originals)]
        for seed in range(first, first + count, _TOGETHER):
            seeds = range(seed, min(seed + _TOGETHER, first + count))
            record = kept / f"{seeds.start}-{seeds.stop}.json"
            if record.exists():
                found = Found(**json.loads(record.read_text(encoding="utf-8")))
            else:
                found = _found(seeds, originals, known)
                record.write_text(json.dumps(asdict(found)), encoding="utf-8")
            print(f"{seeds.start} to {seeds.stop}: {found}", flush=True)
            total.add(found)
    report("damaged directories", count)
    report("with a problem that was told", total.changed)
    report("refused in a line", total.refused)
    report("failures and inventions", total.failures)
    report("slowest", round(total.slowest, 2), "s of CPU")
    report("most memory", total.peak, "MiB")
    return 0 if total.failures == 0 and total.slowest <= MOST_SECONDS and total.peak <= MOST_MIB else 1


def _found(
    seeds: Sequence[int], originals: Sequence[dict[str, bytes]], known: Sequence[Counter[tuple[Any, ...]]]
) -> Found:
    found = Found()
    for seed in seeds:
        chance = random.Random(seed)
        number = chance.randrange(len(originals))
        files = _damaged(chance, originals[number])
        with TemporaryDirectory() as made:
            folder = _written(Path(made) / "data", files)
            began = time.process_time()
            try:
                (one,) = read_storage(StorageQuery(names=(str(folder),)), listener=Silent())
                storage_json((one,))
                for name in _TABLES:
                    rows(folder, name)
                invented = _records(folder) - known[number]
            except NetdiagError:
                found.refused += 1
                continue
            except _DEFECTS as error:
                print(f"seed {seed}: {type(error).__name__}: {error}", flush=True)
                found.failures += 1
                continue
            found.slowest = max(found.slowest, time.process_time() - began)
        found.changed += bool(one.problems)
        if invented:
            found.failures += 1
            print(f"seed {seed}: {len(invented)} records that nobody wrote: {next(iter(invented))}", flush=True)
    found.peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return found


def _small(folder: Path) -> dict[str, bytes]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.stat().st_size <= _LARGEST)
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def _written(folder: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        # By a broker that ended long ago.
        os.utime(path, (0, 0))
    return folder


def _records(folder: Path) -> Counter[tuple[Any, ...]]:
    """What each record says; its offset stands where no checksum protects it."""
    found = rows(folder, "log_records", payloads=True)
    return Counter(
        (row["file"], row["timestamp"], row["key"], row["value"], row["control"], row["codec"]) for row in found
    )


def _damaged(chance: random.Random, files: dict[str, bytes]) -> dict[str, bytes]:
    made = dict(files)
    for _ in range(chance.randint(1, 4)):
        name = chance.choice(sorted(name for name, data in made.items() if data))
        made[name] = chance.choice(_WAYS)(chance, made[name])
    return made


def _flipped(chance: random.Random, data: bytes) -> bytes:
    at = chance.randrange(len(data)) if data else 0
    return data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]


def _header(chance: random.Random, data: bytes) -> bytes:
    """A number of the first header is another."""
    at, size = chance.choice([(0, 8), (8, 4), (12, 4), (16, 1), (21, 2), (23, 4), (27, 8), (57, 4)])
    value = chance.choice([b"\xff" * size, bytes(size), b"\x7f" + b"\xff" * (size - 1), chance.randbytes(size)])
    return data[:at] + value + data[at + size :]


def _cut(chance: random.Random, data: bytes) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _zeros(chance: random.Random, data: bytes) -> bytes:
    return data + bytes(chance.choice([1, 17, 1000, 100_000]))


def _garbage(chance: random.Random, data: bytes) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.randbytes(chance.choice([1, 12, 61, 500])) + data[at:]


def _lost(chance: random.Random, data: bytes) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + data[at + chance.randrange(1, 200) :]


_WAYS: tuple[Callable[[random.Random, bytes], bytes], ...] = (_flipped, _header, _cut, _zeros, _garbage, _lost)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
